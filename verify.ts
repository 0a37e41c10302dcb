import { spawn } from 'node:child_process'

/** Everything that must hold before a commit, and needs no service. Each lane runs its checks one after the other. */
const lanes: string[][] = [
  [
    'oxfmt --check',
    'sherif',
    'turbo boundaries',
    'knip',
    'node packages/contracts/src/write-openapi.ts --check',
    'node packages/contracts/src/write-http-requests.ts --check',
    'node write-operations.ts --check',
    'node write-settings.ts --check',
    'node check-docs.ts',
  ],
  ['oxlint --type-aware', 'tsc -p tsconfig.json'],
  ['vitest run --project unit'],
]

type Outcome = { check: string; code: number; output: string; seconds: number }

const run = (check: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const started = performance.now()
    const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
    const child = spawn(check, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('close', (code) =>
      resolve({ check, code: code ?? 1, output, seconds: (performance.now() - started) / 1000 }),
    )
  })

const runLane = async (checks: string[]): Promise<Outcome[]> => {
  const outcomes: Outcome[] = []
  for (const check of checks) {
    const outcome = await run(check)
    outcomes.push(outcome)
    process.stdout.write(`${outcome.code === 0 ? 'ok  ' : 'FAIL'} ${check} (${outcome.seconds.toFixed(1)} s)\n`)
  }
  return outcomes
}

const started = performance.now()
const failed = (await Promise.all(lanes.map(runLane))).flat().filter(({ code }) => code !== 0)
for (const { check, output } of failed) process.stdout.write(`\n--- ${check}\n${output}\n`)
process.stdout.write(
  `verify: ${failed.length === 0 ? 'all good' : `${failed.length} failed`} in ${((performance.now() - started) / 1000).toFixed(1)} s\n`,
)
process.exitCode = failed.length === 0 ? 0 : 1
