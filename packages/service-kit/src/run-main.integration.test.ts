import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'

const INDEX = JSON.stringify(new URL('index.ts', import.meta.url).href)

/** Runs a program whose `main` has this body, and signals it as soon as it says `ready`. */
const run = async (main: string, ...signals: NodeJS.Signals[]) => {
  const source = `
    import { loadConfig, runMain, setting } from ${INDEX}
    const env = { PORT: 'hunter2' }
    const say = (text) => process.stdout.write(text + '\\n')
    await runMain(async (stack, signal) => { ${main} }, { service: 'test', disposeMs: 500 })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let told = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    if (out.includes('ready')) for (const signal of signals.splice(0, 1)) child.kill(signal)
    if (out.includes('again')) for (const signal of signals.splice(0, 1)) child.kill(signal)
  })
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, told }
}

describe('runMain', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s closes what was opened, newest first, and exits 0', async (signal) => {
    const { code, out } = await run(
      `stack.defer(() => say('first')); stack.defer(() => say('second ' + signal.aborted)); say('ready')`,
      signal,
    )
    expect(code).toBe(0)
    expect(out).toMatch(/ready[^]*stopping[^]*second true\nfirst\n$/)
  })

  test('a configuration that is not usable exits 78 with its names and without its values', async () => {
    const { code, out, told } = await run(`loadConfig(env, { PORT: setting.port({ default: 1, description: 'x' }) })`)
    expect([code, out]).toEqual([78, ''])
    expect(told).toBe('The configuration is not usable:\n  PORT must be a port, 0 to 65535\n')
  })

  test('a start that fails says why, closes what was opened, and exits 1', async () => {
    const { code, out, told } = await run(`stack.defer(() => say('closed')); throw new Error('the schema is behind')`)
    expect([code, out]).toEqual([1, 'closed\n'])
    expect(told).toContain('Cannot start: Error: the schema is behind')
  })

  test.each(['setImmediate(() => { throw new Error("hunter2") })', 'void Promise.reject(new Error("hunter2"))'])(
    '%s is logged and exits 1',
    async (fault) => {
      const { code, out, told } = await run(fault)
      expect(code).toBe(1)
      expect(JSON.parse(out)).toMatchObject({ level: 60, message: 'uncaught error', err: { name: 'Error' } })
      expect(out + told).not.toContain('hunter2')
    },
  )

  test('closing that hangs is cut short, and closing that fails is told; both exit 1', async () => {
    const hanging = await run(`stack.defer(() => new Promise(() => {})); say('ready')`, 'SIGTERM')
    expect([hanging.code, hanging.out]).toEqual([1, expect.stringContaining('cut short')])
    const failing = await run(`stack.defer(() => { throw new Error('x') }); say('ready')`, 'SIGTERM')
    expect([failing.code, failing.out]).toEqual([1, expect.stringContaining('could not be closed')])
  })

  test('a start that hangs does not outlive a signal', async () => {
    const { code, out } = await run(
      `stack.defer(() => say('closed')); say('ready'); await new Promise(() => {})`,
      'SIGTERM',
    )
    expect([code, out]).toEqual([0, expect.stringMatching(/closed\n$/)])
  })

  test('a second signal exits at once', async () => {
    const { code } = await run(
      `stack.defer(() => { say('again'); return new Promise(() => {}) }); say('ready')`,
      'SIGTERM',
      'SIGINT',
    )
    expect(code).toBe(130)
  })
})
