import { expect, test } from 'vitest'
import { createApp, idOf, LLM, llmBody, stage, vendor } from '../test-vendor.ts'

const CHAT = { model: 'llm-1', messages: [{ role: 'user', content: 'hello' }] }

test('a probe is echoed by the generation that serves', async () => {
  await using it = await stage({ default_profile: 'instant' })
  await createApp(it.ask)
  await it.ask('POST', LLM, llmBody())
  const task = `/v1/sync-tasks?model_endpoint_id=${await idOf(it.ask)}`
  expect((await it.ask('POST', task, { args: { x: 1 } })).body).toEqual({
    status: 'SUCCESS',
    result: { echo: { x: 1 }, generation: '1' },
    traceback: null,
    status_code: 200,
  })
  const completion = await it.ask('POST', '/v1/llm/completions-sync?model_endpoint_name=llm-1', { prompt: 'hi' })
  expect(completion.body.output.text).toBe('hi')
  expect((await it.ask('POST', '/v2/chat/completions', CHAT)).body).toMatchObject({
    object: 'chat.completion',
    system_fingerprint: '1',
    choices: [{ message: { role: 'assistant', content: 'hello' } }],
  })
})

test.each(['zero-workers', 'multi-node', 'stuck-pending'])('no worker of %s answers', async (profile) => {
  await using it = await stage({ default_profile: profile })
  await createApp(it.ask)
  await it.ask('POST', LLM, llmBody())
  it.sim.advance(60_000)
  const task = `/v1/sync-tasks?model_endpoint_id=${await idOf(it.ask)}`
  expect((await it.ask('POST', task, {})).body).toMatchObject({ status: 'FAILURE', status_code: 503 })
  expect((await it.ask('POST', '/v2/chat/completions', CHAT)).status).toBe(500)
})

test('nobody but the owner may ask, unless the endpoint is public', async () => {
  await using it = await stage({ default_profile: 'instant' })
  await it.ask('POST', LLM, llmBody())
  await it.ask('POST', LLM, llmBody({ name: 'llm-2', public_inference: true }))
  const other = vendor(it.sim, 'other')
  expect((await other('POST', '/v2/chat/completions', CHAT)).status).toBe(404)
  expect((await other('POST', '/v2/chat/completions', { ...CHAT, model: 'llm-2' })).status).toBe(200)
  expect((await other('POST', '/v2/chat/completions', { ...CHAT, model: 'llm-3' })).status).toBe(404)
})
