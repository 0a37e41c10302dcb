import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Bench } from '../harness/bench.ts'

const COMMAND = join(import.meta.dirname, '../../apps/deployer/src/simulation/simulate-command.ts')
const HISTORIES = 20_000

/** How many histories of the state machine one process plays in a minute. @throws when an invariant breaks in one */
export const histories = async (bench: Bench): Promise<void> => {
  const name = 'histories of the deterministic simulation, one process'
  if (!bench.isWanted(name)) return
  const play = [COMMAND, '--seed', '1', '--histories', String(bench.size(HISTORIES))]
  const { stdout } = await promisify(execFile)(process.execPath, play)
  const perMinute = Number(/(\d+) histories a minute/.exec(stdout)?.[1])
  bench.value({ name, unit: 'a minute', goal: { atLeast: 100_000 }, values: [perMinute] })
}
