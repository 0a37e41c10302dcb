import { expect, test } from 'vitest'
import { keepProcess } from './kept-process.ts'

const node = (source: string, stopSignal: 'TERM' | 'INT' = 'TERM') =>
  keepProcess([process.execPath, '-e', source], { env: { PATH: process.env['PATH'] }, stopSignal, output: 'pipe' })

const firstLine = (stream: NodeJS.ReadableStream | null) =>
  new Promise<string>((resolve) => stream?.once('data', (chunk) => resolve(String(chunk).trim())))

test.each([
  ['its exit code', 'process.exit(3)', { code: 3, reason: 'exited with code 3' }],
  ['the signal that killed it', 'process.kill(process.pid, "SIGKILL")', { code: 137, reason: 'was killed (SIGKILL)' }],
])('an end of its own is told with %s', async (_what, source, expected) => {
  expect(await node(source).exited).toEqual(expected)
})

test.each(['TERM', 'INT'] as const)('stop sends the chosen signal (%s) and waits for the end', async (signal) => {
  const kept = node(
    `process.on('SIG${signal}', () => process.exit(5)); setInterval(() => {}, 1000); process.stdout.write('up\\n')`,
    signal,
  )
  expect(await firstLine(kept.stdout)).toBe('up')
  expect(await kept.stop()).toEqual({ code: 5, reason: 'exited with code 5' })
})

test('a program that ignores the stop signal is killed when its grace is over', async () => {
  const kept = node(`process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.stdout.write('up\\n')`)
  await firstLine(kept.stdout)
  // It resolves when the output has been closed, which only the death of the program does here.
  expect(await kept.stop(100)).toEqual({ code: 1, reason: 'was killed (SIGKILL)' })
})

test('a program that does not exist is told as such', async () => {
  const kept = keepProcess(['/does/not/exist'], { env: {}, stopSignal: 'TERM', output: 'pipe' })
  expect(await kept.exited).toEqual({ code: 127, reason: 'exited with code 127' })
})
