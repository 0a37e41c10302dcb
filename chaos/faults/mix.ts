import { PROCESSES, type ProcessName } from '../stack/services.ts'
import { anyVendorFault, type Mix } from './schedule.ts'

const linksOf = (processes: readonly ProcessName[]): string[] => [
  'client -> platform-api',
  'client -> agent-api',
  'webhook-worker -> agent',
  ...processes.flatMap((name) => [`${name} -> postgres`, `${name} -> redis`]),
  ...processes.filter((name) => name.startsWith('deployer')).map((name) => `${name} -> vendor`),
]

/** Everything against everybody, a kill about every 1.2 s. */
export const EVERYTHING: Mix = {
  weights: { kill: 50, 'kill backend': 8, freeze: 8, 'empty redis': 3, network: 12, reset: 5, vendor: 14 },
  victims: ['redis', ...PROCESSES, 'postgres', ...PROCESSES],
  links: linksOf(PROCESSES),
  everyMs: [200, 1_100],
  // Longer than the lease of a deployment, so that a frozen worker wakes up to a world that went on.
  freezeMs: [200, 3_500],
  vendorFault: anyVendorFault,
}
