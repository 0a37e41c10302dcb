import { recordedSoaks, verdictOf } from './models/soak-record.ts'

// node bench/models-soak-verdict.ts [COMMIT]: what the soaks written down came to, of one commit or of all. Exits 1 unless
// each backend of the queue was soaked with 300 kills and nothing was lost, doubled or stuck.

const KILLS = 300
const [commit] = process.argv.slice(2)
const soaks = (await recordedSoaks()).filter((soak) => commit === undefined || soak.commit.includes(commit))
for (const queue of ['redis', 'postgres'] as const) {
  const verdict = verdictOf(
    soaks.filter((soak) => soak.queue === queue),
    KILLS,
  )
  process.stdout.write(`${verdict.holds ? 'ok  ' : 'MISS'} queue in ${queue}: ${JSON.stringify(verdict)}\n`)
  if (!verdict.holds) process.exitCode = 1
}
