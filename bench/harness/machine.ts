import { arch, cpus, platform, release, totalmem } from 'node:os'
import { commit } from './commit.ts'
import { postgresVersion } from './postgres.ts'

export type Machine = {
  cores: number
  cpu: string
  memoryGb: number
  system: string
  node: string
  postgres: string
  commit: string
  measuredAt: string
}

/** What was measured on, so that nobody compares two machines without noticing. */
export const describeMachine = async (): Promise<Machine> => ({
  cores: cpus().length,
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release()} ${arch()}`,
  node: process.version,
  postgres: await postgresVersion(),
  commit: commit(),
  measuredAt: new Date().toISOString().slice(0, 10),
})
