import { join } from 'node:path'
import { table } from './harness/results.ts'
import { writeSection } from './harness/section.ts'
import { faultVerdictOf, recordedFaults } from './models/fault-record.ts'
import { recordedSoaks, verdictOf } from './models/soak-record.ts'

// node bench/models-verdict.ts: what the fault matrix and the soaks that were written down came to, which it puts into
// README.md. Exits 1 unless, with each backend of the queue, every case of the matrix ended as it should when it was played
// last, and 300 kills in soaks lost, doubled and stuck nothing.

const KILLS = 300
const QUEUES = ['redis', 'postgres'] as const
const OPERATIONS = ['create', 'update', 'delete'] as const

const runs = await recordedFaults()
const matrix = QUEUES.flatMap((queue) =>
  OPERATIONS.map((operation) => ({ queue, operation, ...faultVerdictOf(runs, queue, operation) })),
)
const recorded = await recordedSoaks()
const soaks = QUEUES.map((queue) => {
  const own = recorded.filter((soak) => soak.queue === queue)
  return { queue, commits: [...new Set(own.map(({ commit }) => commit))], ...verdictOf(own, KILLS) }
})

const cases = table(
  ['fault matrix, queue in', 'operation', 'cases', 'played', 'ended as they should', 'longest', 'commit'],
  matrix.map(({ queue, operation, cases, played, ok, longest_s, commits }) =>
    [queue, operation, cases, played, ok, `${longest_s} s`, commits.join(', ')].map(String),
  ),
)
const kills = table(
  ['soak, queue in', 'runs', 'kills', 'created', 'updated', 'deleted', 'lost', 'doubled', 'stuck', 'commit'],
  soaks.map(({ queue, soaks, kills, created, updated, deleted, lost, doubled, stuck, commits }) =>
    [queue, soaks, kills, created, updated, deleted, lost, doubled, stuck, commits.join(', ')].map(String),
  ),
)
process.stdout.write(`${cases}\n\n${kills}\n`)
await writeSection(join(import.meta.dirname, 'README.md'), 'models', `${cases}\n\n${kills}`)
const holds = matrix.every(({ ok, cases }) => ok === cases) && soaks.every((soak) => soak.holds)
process.exitCode = holds ? 0 : 1
