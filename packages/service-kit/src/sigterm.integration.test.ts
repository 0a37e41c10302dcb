import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

const INDEX = JSON.stringify(new URL('index.ts', import.meta.url).href)

const PROGRAM = `
  import { createLogger, createMetrics, createService, listen, runMain } from ${INDEX}
  await runMain(async (stack) => {
    const log = createLogger({ service: 'test', level: 'info' })
    const none = { document: async () => ({}), readiness: {}, authenticate: () => Promise.reject(new Error('nobody')) }
    const service = createService({ name: 'agent-api', log, metrics: createMetrics(), ...none })
    service.raw('get', '/slow', () => {
      process.stdout.write('{"message":"working"}\\n')
      return new Promise((resolve) => setTimeout(() => resolve({ status: 200, body: 'done' }), 600))
    })
    stack.defer(() => log.info('closed last'))
    const { url } = stack.use(await listen(service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 5000 }))
    process.stdout.write(JSON.stringify({ message: 'at', url }) + '\\n')
  })`

test('SIGTERM lets a request in flight finish, closes everything and exits 0', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const messages: string[] = []
  const answers: Promise<string>[] = []
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    for (const line of chunk.trim().split('\n')) {
      const { message, url } = JSON.parse(line) as { message: string; url?: string }
      messages.push(message)
      if (message === 'at') answers.push(fetch(`${url}/slow`).then((response) => response.text()))
      if (message === 'working') child.kill('SIGTERM')
    }
  })
  const [code] = (await once(child, 'close')) as [number | null]
  expect(await Promise.all(answers)).toEqual(['done'])
  expect(code).toBe(0)
  expect(messages).toEqual(['listening', 'at', 'working', 'stopping', 'request', 'drained', 'closed last'])
})
