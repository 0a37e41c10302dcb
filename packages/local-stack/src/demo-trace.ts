import { randomUUID } from 'node:crypto'
import { expectEqual, say, type Call, type Json } from './demo-client.ts'

type Span = {
  id: string
  trace_id: string
  parent_id: string | null
  name: string
  start_time: string
  end_time: string | null
}

// What an agent did, as [name, operation in OpenTelemetry's words, parent's name, start, end]: milliseconds since the
// trace began.
const STEPS: readonly (readonly [string, string, string | null, number, number])[] = [
  ['answer a question', 'invoke_agent', null, 0, 900],
  ['plan', 'chat', 'answer a question', 10, 200],
  ['search the documents', 'retrieval', 'answer a question', 210, 520],
  ['rank the passages', 'execute_tool', 'search the documents', 400, 515],
  ['write the answer', 'chat', 'answer a question', 530, 890],
]

const milliseconds = ({ start_time, end_time }: Span) =>
  end_time === null ? 0 : Date.parse(end_time) - Date.parse(start_time)

const treeLines = (spans: Span[], parent_id: string | null = null, depth = 1): string[] =>
  spans
    .filter((span) => span.parent_id === parent_id)
    .flatMap((span) => [
      `${'  '.repeat(depth)}${span.name} (${milliseconds(span)} ms)`,
      ...treeLines(spans, span.id, depth + 1),
    ])

/** Records five nested spans, reads them back, and shows them as the tree they are. */
export const demoTrace = async (call: Call) => {
  const trace_id = randomUUID()
  const began = Date.now()
  const at = (offsetMs: number) => new Date(began + offsetMs).toISOString()
  const ids = new Map<string | null, string>()
  say('An agent records what it does, five spans:')
  for (const [name, operation, parent, start, end] of STEPS) {
    const parent_id = ids.get(parent) ?? null
    const body: Json = {
      trace_id,
      name,
      parent_id,
      start_time: at(start),
      end_time: at(end),
      data: { 'gen_ai.operation.name': operation },
    }
    const span = await call<Span>('POST /spans', body)
    ids.set(name, span.id)
  }
  const spans = await call<Span[]>(`GET /spans?trace_id=${trace_id}&order_direction=asc`)
  expectEqual(
    'the spans read back',
    spans.map(({ name }) => name),
    STEPS.map(([name]) => name),
  )
  const lines = treeLines(spans)
  for (const line of lines) say(line)
  expectEqual('the number of spans in the tree', lines.length, STEPS.length)
  say(`  trace ${trace_id}\n`)
}
