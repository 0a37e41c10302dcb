import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runEverything } from '@keelson/chaos/everything'
import { redisProgram } from '@keelson/chaos/stack/redis'
import { describeVerdict } from '@keelson/chaos/verdict'
import { SERVICES } from '@keelson/local-stack'
import { expect, test } from 'vitest'
import { ROOT } from './run-start.ts'

const MINUTES = Number(process.env['CHAOS_MINUTES'] ?? 0.25)
const SEED = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000)

test.skipIf(redisProgram() === undefined)(
  'whatever is killed, frozen or cut off, nothing acknowledged is lost, doubled, stuck or seen by strangers',
  async () => {
    const verdict = await runEverything(SEED, MINUTES)
    process.stdout.write(`${describeVerdict(verdict)}\n`)
    expect(verdict.violations).toEqual([])
    expect(verdict.kills).toBeGreaterThan(0)
    expect(verdict.acceptedWrites).toBeGreaterThan(0)
  },
  MINUTES * 60_000 + 300_000,
)

test.each(SERVICES.map(({ name, bundle }) => [name, bundle]))('%s knows nothing of chaos', async (_, bundle) => {
  expect(await readFile(join(ROOT, bundle), 'utf8')).not.toMatch(/chaos/i)
})
