import { expect, test } from 'vitest'
import { capturedLog } from './test-service.ts'
import { createTracer } from './tracer.ts'
import { openTracer } from './tracing-settings.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const contextOf = (flags: string) => `00-${TRACE}-b7ad6b7169203331-${flags}`
/** Nobody listens on port 1. */
const NOBODY = { service: 'test', endpoint: 'http://127.0.0.1:1', headers: {}, flushMs: 60_000 }

const counted = async (flags: string, spans: number) => {
  const { lines, log } = capturedLog()
  const tracer = createTracer({ ...NOBODY, log })
  for (let index = 0; index < spans; index += 1) {
    tracer.start({ name: 'n', kind: 'client', parent: contextOf(flags) }).end({})
  }
  await tracer[Symbol.asyncDispose]()
  return lines.reduce((sum, line) => sum + Number(line['count']), 0)
}

test('a span passes on its own id, in the trace and with the flags of its parent; without one it begins a trace', () => {
  const tracer = createTracer({ ...NOBODY, log: capturedLog().log })
  const { traceparent } = tracer.start({ name: 'n', kind: 'server', parent: contextOf('01') })
  expect(traceparent).toMatch(new RegExp(`^00-${TRACE}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`))
  const alone = tracer.start({ name: 'n', kind: 'server', parent: null })
  expect(alone.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
})

test.each([
  ['that its caller does not sample', '00', 10, 0],
  ['for a receiver that is away', '01', 10, 10],
  ['beyond what may wait for a receiver', '01', 5000, 2048],
])('spans %s: of flags %s and %i of them, %i are kept to be sent', async (_what, flags, spans, sent) => {
  expect(await counted(flags, spans)).toBe(sent)
})

test('without a receiver there is no tracer', async () => {
  const config = { OTEL_EXPORTER_OTLP_ENDPOINT: null, OTEL_EXPORTER_OTLP_HEADERS: null }
  expect(await openTracer(config, { service: 'test', log: capturedLog().log })).toBeNull()
})
