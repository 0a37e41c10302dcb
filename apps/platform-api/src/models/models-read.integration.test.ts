import { ProblemError } from '@keelson/contracts/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
let client: Awaited<ReturnType<typeof app.client>>

beforeAll(async () => void (app = await testApp()))
beforeEach(async () => void (client = await app.client()))
afterAll(() => app[Symbol.asyncDispose]())

const LLM = { model: 'llama-3-8b-instruct' }
const refusal = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ProblemError)
  const { status, problem, headers } = error as ProblemError
  const paths = problem.errors?.map(({ path }) => path)
  return { status, code: problem.code, retry: headers.get('x-should-retry'), ...(paths && { paths }) }
}

const ready = async (body: Parameters<typeof client.createModel>[0]['body']) => {
  const model = await client.createModel({ body })
  if (model.status === 'deploying') await app.settle(model.id)
  return client.getModel({ params: { model_id: model.id } })
}

describe('list', () => {
  test('pages forwards and backwards meet every model once, newest first', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `m${index}`)
    for (const name of names) await ready({ name, model_vendor: 'openai', model_type: 'generic' } as never)
    const newest = names.toReversed()
    const first = await client.listModels({ query: { limit: '3' } })
    expect(first).toMatchObject({ has_more: true, total: 7, limit: 3, object: 'list' })
    const second = await client.listModels({ query: { limit: '3', starting_after: first.items[2]?.id } })
    const third = await client.listModels({ query: { limit: '3', starting_after: second.items[2]?.id } })
    expect([first, second, third].flatMap(({ items }) => items.map(({ name }) => name))).toEqual(newest)
    expect(third.has_more).toBe(false)
    expect((await client.listModels({ query: { starting_after: third.items[0]?.id } })).items).toEqual([])
    const back = await client.listModels({ query: { limit: '3', ending_before: third.items[0]?.id } })
    expect(back.items).toEqual(second.items)
    expect(back.has_more).toBe(true)
  })

  test('a cursor whose model is gone still works', async () => {
    const models = []
    for (const name of ['a', 'b', 'c'])
      models.push(await ready({ name, model_vendor: 'openai', model_type: 'generic' } as never))
    const [a, b, c] = models.map(({ id }) => id) as [string, string, string]
    await client.deleteModel({ params: { model_id: b } })
    const { items } = await client.listModels({ query: { starting_after: b } })
    expect(items.map(({ id }) => id)).toEqual([a])
    expect((await client.listModels({ query: { ending_before: b } })).items.map(({ id }) => id)).toEqual([c])
  })

  test('name and vendor filter exactly, and total counts what matches', async () => {
    await ready({ name: 'a%', model_vendor: 'openai', model_type: 'generic' } as never)
    await ready({ name: 'ab', model_vendor: 'xai', model_type: 'generic' } as never)
    expect(await client.listModels({ query: { name: 'a%' } })).toMatchObject({ total: 1, items: [{ name: 'a%' }] })
    expect(await client.listModels({ query: { model_vendor: 'xai' } })).toMatchObject({
      total: 1,
      items: [{ name: 'ab' }],
    })
  })

  test.each([
    [
      'both cursors',
      { starting_after: 'model_01m7yvgbede5js91ewap85hqp2', ending_before: 'model_01m7yvgbede5js91ewap85hqp2' },
    ],
    ['a cursor of another kind', { starting_after: 'cred_01m7yvgbede5js91ewap85hqp2' }],
    ['an unknown sort_by', { sort_by: 'password' as never }],
    ['a limit of 0', { limit: '0' }],
  ])('%s is 422', async (_, query) => {
    expect(await refusal(client.listModels({ query }))).toMatchObject({ status: 422, code: 'invalid_request' })
  })
})

describe('read and delete', () => {
  test('wait holds the answer until the status leaves deploying', async () => {
    const { id } = await client.createModel({ body: { name: 'm', vendor_configuration: LLM } })
    const waiting = client.getModel({ params: { model_id: id }, query: { wait: '20' } })
    await app.settle(id, 'failed')
    expect(await waiting).toMatchObject({ status: 'failed' })
  })

  test('a hosted model is deleted at once, for good', async () => {
    const { id } = await ready({ name: 'gpt', model_vendor: 'openai', model_type: 'generic' } as never)
    expect(await client.deleteModel({ params: { model_id: id } })).toEqual({ id, deleted: true, object: 'model' })
    expect(await refusal(client.getModel({ params: { model_id: id } }))).toMatchObject({
      status: 404,
      code: 'not_found',
    })
    expect(await refusal(client.deleteModel({ params: { model_id: id } }))).toMatchObject({ status: 404 })
  })

  test("another account's model is as missing", async () => {
    const { id } = await ready({ name: 'm', vendor_configuration: LLM })
    const other = await app.client()
    const params = { model_id: id }
    const nobody = { model_id: 'model_01m7yvgbede5js91ewap85hqp2' }
    const calls = [
      (at: typeof params) => other.getModel({ params: at }),
      (at: typeof params) => other.updateModel({ params: at, body: { name: 'x' } }),
      (at: typeof params) => other.deleteModel({ params: at }),
      (at: typeof params) => other.listDeployments({ params: at }),
    ]
    for (const call of calls) expect(await refusal(call(params))).toEqual(await refusal(call(nobody)))
    expect((await other.listModels()).total).toBe(0)
  })
})
