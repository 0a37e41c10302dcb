import { JsonText } from '@keelson/contracts'
import { checkpointRetention, checkpoints } from '@keelson/contracts/agent'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { searchable } from './metadata-filter.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { sql } = app.db
const client = await app.client()
const routes = { ...checkpoints, ...checkpointRetention }

/** A number as its text, which a JavaScript number could not hold. */
type Digits = { digits: string }
type Member = [name: string, value: unknown]

const escape = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** A string as JSON, some of its characters as escapes. */
const quoted = (text: string, isEscaped: () => boolean): string =>
  `"${Array.from(text, (point) => (isEscaped() ? escape(point) : JSON.stringify(point).slice(1, -1))).join('')}"`

const textOf = (value: unknown, isEscaped: () => boolean): string => {
  if (typeof value === 'string') return quoted(value, isEscaped)
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item, isEscaped)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if ('digits' in value) return (value as Digits).digits
  return objectOf(Object.entries(value), isEscaped)
}

const objectOf = (members: readonly Member[], isEscaped: () => boolean): string =>
  `{${members.map(([name, value]) => `${quoted(name, isEscaped)} : ${textOf(value, isEscaped)}`).join(',')}}`

const integers = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })
const numbers = fc
  .tuple(
    integers,
    fc.constantFrom(
      '',
      '.0',
      '.12345678901234567890123',
      'e0',
      'E+12',
      'e-345',
      'e4999',
      'e-70000',
      'e131030',
      'e131071',
    ),
  )
  .map(([integer, rest]) => ({ digits: `${integer}${rest}` }))
const names = fc.string({ unit: fc.constantFrom('\\', 'u', '0', '9', 'a', 'é', '名', '😀', '"', '\n', '\u0001') })
const strings = fc.oneof(names, fc.string({ unit: fc.constantFrom('a', '\0', '\ud800', '\udc00', '\\', '7') }))
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false),
    strings,
    numbers,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      names.filter((name) => name !== 'digits'),
      tie('value'),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
})).value
const members = fc.uniqueArray(fc.tuple(names, values), { maxLength: 4, selector: ([name]) => name })
const coins = fc.infiniteStream(fc.boolean())

const finds = async (metadata: string, filter: string): Promise<boolean> => {
  const [found] = await sql<[{ yes: boolean }]>`
    select ${searchable(new JsonText(metadata))}::text::jsonb @> ${searchable(new JsonText(filter))}::text::jsonb as yes`
  return found.yes
}

describe('metadata', () => {
  test('is found by each of its members, whichever characters either side writes as escapes', async () => {
    await fc.assert(
      fc.asyncProperty(members, coins, async (all, coin) => {
        const isEscaped = () => coin.next().value
        const metadata = objectOf(all, isEscaped)
        for (const member of all) expect(await finds(metadata, objectOf([member], isEscaped))).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  test('of an integer is found by that integer and by no other, however large', async () => {
    await fc.assert(
      fc.asyncProperty(integers, fc.integer({ min: -3, max: 3 }), names, coins, async (id, difference, name, coin) => {
        const isEscaped = () => coin.next().value
        const other = { digits: String(id + BigInt(difference)) }
        const metadata = objectOf(
          [
            ['id', { digits: String(id) }],
            ['name', `é${name}`],
          ],
          isEscaped,
        )
        expect(await finds(metadata, objectOf([['id', other]], isEscaped))).toBe(difference === 0)
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    ['a huge exponent', '1e999999'],
    ['a tiny exponent', '-1E-999999'],
    ['20,000 decimals', `0.${'1'.repeat(20_000)}`],
    ['60,000 digits', '9'.repeat(60_000)],
    ['a padded exponent', `1.5e${'0'.repeat(9)}1`],
    ['131,073 digits', `1${'0'.repeat(131_072)}`],
    ['131,073 digits, some by its exponent', `1${'0'.repeat(130_900)}e172`],
    ['an exponent that is no integer of Postgres', '1e99999999999999999999'],
    ['nothing, shifted far', '-0.0e99999999999999999999'],
    ['16,384 decimals, all of them zeros', `7.${'0'.repeat(16_384)}`],
  ])('with a number of %s is stored and found, and its other numbers stay exact', async (_, digits) => {
    const metadata = `{"odd":${digits},"id":12345678901234567891}`
    expect(await finds(metadata, `{"odd":${digits}}`)).toBe(true)
    expect(await finds(metadata, '{"id":12345678901234567892}')).toBe(false)
  })
})

describe('a number that a numeric can just hold', () => {
  test.each([
    ['131,072 digits', `1${'0'.repeat(131_071)}`, `1${'0'.repeat(131_070)}1`],
    ['131,072 digits by an exponent', '1e131071', '2e131071'],
    ['131,072 digits after zeros', '0.001e131074', '0.0011e131074'],
    ['an exponent of 5000', '1e5000', '1e5001'],
    ['an exponent of 5000, and is not null', '1e5000', 'null'],
    ['16,383 decimals', '1e-16383', '2e-16383'],
    ['16,383 decimals, and is not 0', '1e-16383', '0'],
    ['both', `9.${'1'.repeat(131_071 + 16_383)}e131071`, `9.${'1'.repeat(131_071 + 16_382)}2e131071`],
  ])('of %s is found by itself and by no other', async (_, digits, other) => {
    expect(await finds(`{"n":${digits}}`, `{"n":${digits}}`)).toBe(true)
    expect(await finds(`{"n":${digits}}`, `{"n":${other}}`)).toBe(false)
  })
})

test('a number too large for a numeric is kept as it was sent, and breaks neither puts nor filters', async () => {
  const huge = `{"n":1${'0'.repeat(140_000)}}`
  const text = `{"thread_id":"huge","checkpoint_id":"cp","checkpoint":{},"metadata":${huge}}`
  expect(await client.raw(routes.putCheckpoint, { text })).toMatchObject({ status: 200 })
  for (const route of ['listCheckpoints', 'listThreads'] as const) {
    const answer = await client.raw(routes[route], { text: `{"filter_metadata":${huge}}` })
    expect([answer.status, answer.text.includes(huge)]).toEqual([200, true])
  }
})

test('metadata with eight megabytes of escapes is put, and comes back as the text that was put', async () => {
  const metadata = String.raw`{"a":"\u0000${String.raw`\n`.repeat(4_000_000)}","b":1}`
  const text = `{"thread_id":"escapes","checkpoint_id":"cp","checkpoint":{},"metadata":${metadata}}`
  expect(await client.raw(routes.putCheckpoint, { text })).toMatchObject({ status: 200 })
  const answer = await client.raw(routes.listCheckpoints, { text: '{"thread_id":"escapes","filter_metadata":{"b":1}}' })
  expect([answer.status, answer.text.includes(metadata)]).toEqual([200, true])
})

describe('a large integer beside an escape', () => {
  const METADATA = String.raw`{"user_id":12345678901234567891,"name":"\u00e9"}`
  const EXACT = '{"user_id":12345678901234567891,"name":"é"}'
  const ROUNDED = '{"user_id":12345678901234567000}'
  const send = (route: keyof typeof routes, text: string) => client.raw(routes[route], { text })
  const put = (thread_id: string) =>
    send('putCheckpoint', `{"thread_id":"${thread_id}","checkpoint_id":"cp","checkpoint":{},"metadata":${METADATA}}`)
  const found = async (route: 'listCheckpoints' | 'listThreads', filter: string) =>
    (await send(route, `{"filter_metadata":${filter}}`)).text.includes(METADATA)

  test.each(['listCheckpoints', 'listThreads'] as const)('is found exactly by %s', async (route) => {
    await put('exact')
    expect([await found(route, EXACT), await found(route, ROUNDED)]).toEqual([true, false])
  })
})
