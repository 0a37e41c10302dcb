import { testDatabase } from '@keelson/testing'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { byteaArray, textArray } from './binary-array.ts'

const database = await testDatabase()
afterAll(() => database[Symbol.asyncDispose]())
const { sql } = database.db

const texts = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed() && !text.includes('\0'))
const arrayOf = <Value>(value: fc.Arbitrary<Value>) => fc.array(fc.option(value), { maxLength: 20 })

test('arrays of texts arrive as they are', async () => {
  await fc.assert(
    fc.asyncProperty(arrayOf(texts), async (values) => {
      const rows = await sql`select value from unnest(${textArray(values)}::text[]) as _ (value)`
      expect(rows.map(({ value }) => value)).toEqual(values)
    }),
  )
})

test('arrays of bytes arrive as they are, beside parameters in text', async () => {
  const bytes = fc.uint8Array({ maxLength: 100 }).map((value) => Buffer.from(value))
  await fc.assert(
    fc.asyncProperty(arrayOf(bytes), texts, async (values, text) => {
      const rows = await sql<{ value: Buffer | null; text: string; none: string | null }[]>`
        select value, ${text}::text as text, ${null}::text as none from unnest(${byteaArray(values)}::bytea[]) as _ (value)`
      expect(rows.map((row) => row)).toEqual(values.map((value) => ({ value, text, none: null })))
    }),
  )
})

test('a statement whose plan was thrown away is sent again with its arrays', async () => {
  await sql`create table keelson_changing (value text)`
  const read = () => sql`select * from keelson_changing where value = any(${textArray(['a'])}::text[])`
  await sql`insert into keelson_changing values ('a')`
  expect(await read()).toEqual([{ value: 'a' }])
  await sql`alter table keelson_changing add column more integer`
  expect(await read()).toEqual([{ value: 'a', more: null }])
})
