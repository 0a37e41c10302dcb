import { describe, expect, test } from 'vitest'
import { JsonText } from '../json-text.ts'
import { refusal } from '../refusal.ts'
import { agentApiKeys } from './agent-api-keys.ts'
import { RegisterAgentRequest } from './agents.ts'
import { checkpointRetention } from './checkpoint-retention.ts'
import {
  checkpoints,
  GetCheckpointTupleRequest,
  ListCheckpointsRequest,
  PutCheckpointRequest,
  PutCheckpointWritesRequest,
} from './checkpoints.ts'
import { CreateSpanRequest, PutSpanRequest, UpdateSpanRequest } from './span.ts'
import { CreateSpanBatchRequest } from './span-batches.ts'
import { spans } from './spans.ts'
import { CreateWebhookTriggerRequest } from './webhook-trigger.ts'

const span = { name: 'step', start_time: '2026-11-21T09:30:00Z', trace_id: 't1' }

describe('a span', () => {
  test('is accepted with every optional field null, and with unknown fields, which are dropped', () => {
    const optional = ['id', 'data', 'end_time', 'input', 'output', 'parent_id', 'task_id']
    const nulls = Object.fromEntries(optional.map((name) => [name, null]))
    expect(CreateSpanRequest.parse({ ...span, ...nulls, metadata: { a: 1 } })).toEqual(span)
  })

  test.each<[object, string | null]>([
    [{ end_time: '2026-11-21T09:30:00Z' }, null],
    [{ end_time: '2026-11-21T09:30:00.000001Z' }, null],
    [{ end_time: '2026-11-21T10:29:59.999999+01:00' }, 'end_time'],
    [{ start_time: '2026-11-21T09:30:00.5Z', end_time: '2026-11-21T09:30:00Z' }, 'end_time'],
    [{ start_time: 1763717400 }, 'start_time'],
    [{ start_time: 'now' }, 'start_time'],
    [{ id: '' }, 'id'],
    [{ id: 'a\0' }, 'id'],
    [{ trace_id: '' }, 'trace_id'],
    [{ parent_id: '' }, null],
    [{ name: '' }, null],
    [{ name: '\ud800' }, 'name'],
    [{ input: [1] }, 'input'],
    [{ output: 'text' }, 'output'],
    [{ data: [] }, null],
    [{ data: [{ a: 1 }] }, null],
    [{ input: new JsonText('[{"a":1.0}]') }, null],
  ])('%j is refused at %j', (fields, path) => {
    expect(refusal(CreateSpanRequest, { ...span, ...fields })).toBe(path)
  })

  test('needs nothing for a patch, and only its id in a put', () => {
    expect(UpdateSpanRequest.parse({ end_time: null, name: null })).toEqual({})
    expect(refusal(UpdateSpanRequest, { start_time: '2026-11-21', end_time: '2026-11-20' })).toBe('end_time')
    expect(refusal(PutSpanRequest, { id: 's1' })).toBeNull()
    expect(refusal(PutSpanRequest, {})).toBe('id')
  })

  test('arrives in a batch as it is, however bad', () => {
    const batch = [span, 3, null, 'x', { name: 5 }]
    expect(CreateSpanBatchRequest.parse({ spans: batch }).spans).toEqual(batch)
    expect(refusal(CreateSpanBatchRequest, { spans: Array.from({ length: 1001 }, () => span) })).toBe('spans')
    expect(refusal(CreateSpanBatchRequest, [span])).toBe('')
  })
})

describe('the list of spans', () => {
  const query = spans.listSpans.schemas.query

  test('has defaults, takes directions in any case and empty filters as none', () => {
    expect(query.parse({})).toEqual({ limit: 50, page_number: 1, order_by: 'start_time', order_direction: 'desc' })
    expect(query.parse({ order_direction: 'ASC', order_by: 'NAME', task_id: '' })).toMatchObject({
      order_direction: 'asc',
      order_by: 'name',
    })
  })

  test.each<[object, string]>([
    [{ limit: '0' }, 'limit'],
    [{ limit: '1001' }, 'limit'],
    [{ page_number: '0' }, 'page_number'],
    [{ order_by: 'input' }, 'order_by'],
    [{ order_direction: 'up' }, 'order_direction'],
    [{ starting_after: 's1', page_number: '2' }, 'page_number'],
    [{ trace_id: 'a\0' }, 'trace_id'],
  ])('%j is refused at %s', (values, path) => {
    expect(refusal(query, values)).toBe(path)
  })
})

const key = { thread_id: 't', checkpoint_id: 'c' }

describe('a checkpoint', () => {
  test('is asked for by id, or the latest by null, the empty text or nothing', () => {
    for (const checkpoint_id of [undefined, null, '']) {
      expect(GetCheckpointTupleRequest.parse({ thread_id: 't', checkpoint_ns: null, checkpoint_id })).toEqual({
        thread_id: 't',
        checkpoint_ns: '',
        include: [],
      })
    }
    expect(refusal(GetCheckpointTupleRequest, {})).toBe('thread_id')
    expect(refusal(GetCheckpointTupleRequest, { thread_id: 5 })).toBe('thread_id')
  })

  test('is put with defaults', () => {
    expect(PutCheckpointRequest.parse({ ...key, checkpoint: {} })).toEqual({
      ...key,
      checkpoint_ns: '',
      checkpoint: {},
      metadata: {},
      blobs: [],
    })
  })

  test.each([null, ''])('the parent %j is none', (parent_checkpoint_id) => {
    const put = PutCheckpointRequest.parse({ ...key, checkpoint: {}, parent_checkpoint_id })
    expect(put.parent_checkpoint_id).toBeUndefined()
  })

  test.each<[unknown, string]>([
    ['00000000000000000000000000000002.0.52', '00000000000000000000000000000002.0.52'],
    [2, '2'],
    [0.5, '0.5'],
    [new JsonText('1.0'), '1.0'],
    [new JsonText('12345678901234567890'), '12345678901234567890'],
    [new JsonText('"v\\u0031"'), 'v1'],
  ])('version %s is the text %s', (version, text) => {
    const blobs = [{ channel: 'c', version, type: 'empty', blob: null }]
    expect(PutCheckpointRequest.parse({ ...key, checkpoint: {}, blobs }).blobs[0]?.version).toBe(text)
  })

  test.each<[object, string]>([
    [{ version: null }, 'version'],
    [{ version: {} }, 'version'],
    [{ version: 'a\0' }, 'version'],
    [{ version: 'x'.repeat(256) }, 'version'],
    [{ blob: 'YQ' }, 'blob'],
    [{ type: null }, 'type'],
  ])('a blob with %j is refused', (fields, path) => {
    const blobs = [{ channel: 'c', version: 1, type: 'json', blob: 'YQ==', ...fields }]
    expect(refusal(PutCheckpointRequest, { ...key, checkpoint: {}, blobs })).toBe(`blobs.0.${path}`)
  })

  test.each<[object, string | null]>([
    [{ idx: -4 }, null],
    [{ idx: -2_147_483_648 }, null],
    [{ idx: 2_147_483_648 }, 'idx'],
    [{ idx: 0.5 }, 'idx'],
    [{ idx: '0' }, 'idx'],
    [{ blob: null }, 'blob'],
    [{ blob: '' }, null],
    [{ type: null, task_path: null }, null],
    [{ task_path: 'x'.repeat(16_385) }, 'task_path'],
  ])('a write with %j is refused at %j', (fields, path) => {
    const writes = [{ task_id: 'a', idx: 0, channel: 'c', type: 'json', blob: 'YQ==', ...fields }]
    expect(refusal(PutCheckpointWritesRequest, { ...key, writes })).toBe(path && `writes.0.${path}`)
  })

  test('is listed with limits, and pruned only by a rule', () => {
    expect(ListCheckpointsRequest.parse({ limit: null, include: null })).toEqual({ limit: 100, include: [] })
    expect(refusal(ListCheckpointsRequest, { limit: 1001 })).toBe('limit')
    expect(refusal(ListCheckpointsRequest, { include: ['all'] })).toBe('include.0')
    const prune = checkpointRetention.pruneCheckpoints.schemas.body
    expect(refusal(prune, { thread_ids: ['t'] })).toBe('keep_last')
    expect(prune.parse({ keep_last: 3 })).toEqual({ keep_last: 3, dry_run: false })
  })

  test('is answered as null when there is none, and writes with no body', () => {
    expect(checkpoints.getCheckpointTuple.schemas.ok.parse(null)).toBeNull()
    expect([checkpoints.putCheckpointWrites, checkpoints.deleteThread].map(({ schemas }) => schemas.ok)).toEqual([
      undefined,
      undefined,
    ])
  })
})

describe('a webhook trigger', () => {
  const trigger = { agent_name: 'triage', name: 'octocat/hello', forward_path: 'github' }

  test('is for GitHub and sync unless it says otherwise; leading slashes go', () => {
    expect(
      CreateWebhookTriggerRequest.parse({ ...trigger, forward_path: '//a/b?c#d', secret: null, base_url: '' }),
    ).toEqual({
      ...trigger,
      forward_path: 'a/b?c#d',
      source: 'github',
      delivery: 'sync',
    })
  })

  test.each<[object, string | null]>([
    [{ forward_path: '' }, null],
    [{ forward_path: 'a..b/.c' }, null],
    [{ forward_path: 'a/../b' }, 'forward_path'],
    [{ forward_path: '/./a' }, 'forward_path'],
    [{ forward_path: 'a\nb' }, 'forward_path'],
    [{ source: 'slack' }, 'secret'],
    [{ source: 'slack', secret: 'x'.repeat(16) }, null],
    [{ source: 'external' }, null],
    [{ source: 'gitlab' }, 'source'],
    [{ secret: 'x'.repeat(15) }, 'secret'],
    [{ secret: '' }, 'secret'],
    [{ base_url: 'ftp://x' }, 'base_url'],
    [{ base_url: 'https://x.example/' }, null],
    [{ name: '' }, 'name'],
  ])('%j is refused at %j', (fields, path) => {
    expect(refusal(CreateWebhookTriggerRequest, { ...trigger, ...fields })).toBe(path)
  })

  test('and every other key belong to exactly one agent', () => {
    const { createAgentApiKey, listAgentApiKeys } = agentApiKeys
    for (const agent of [{}, { agent_id: 'a', agent_name: 'b' }]) {
      expect(refusal(createAgentApiKey.schemas.body, { ...agent, name: 'k' })).toBe('agent_id')
      expect(refusal(listAgentApiKeys.schemas.query, agent)).toBe('agent_id')
    }
    expect(refusal(createAgentApiKey.schemas.body, { agent_name: 'b', name: 'k' })).toBeNull()
  })
})

describe('an agent', () => {
  const agent = { name: 'triage', description: '', acp_url: 'http://127.0.0.1:8000', acp_type: 'async' }

  test.each<[object, string | null]>([
    [{ principal_context: null, registration_metadata: null, agent_id: null }, null],
    [{ name: 'Triage' }, 'name'],
    [{ name: '' }, 'name'],
    [{ acp_url: 'file:///etc/passwd' }, 'acp_url'],
    [{ acp_type: 'other' }, 'acp_type'],
  ])('%j is refused at %j', (fields, path) => {
    expect(refusal(RegisterAgentRequest, { ...agent, ...fields })).toBe(path)
  })
})
