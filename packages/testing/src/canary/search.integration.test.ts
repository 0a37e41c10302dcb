import { afterAll, expect, test } from 'vitest'
import { testDatabase } from '../test-database.ts'
import { tokensIn, tokensInDatabase } from './search.ts'

const database = await testDatabase()
afterAll(() => database[Symbol.asyncDispose]())

const token = `canary${'0123456789'.repeat(3)}`

test('a token is found in text as it is, in hex and in base64 at any offset', () => {
  const spelled = ['', 'a', 'ab'].map((before) => Buffer.from(`${before}${token}`).toString('base64'))
  for (const text of [token, Buffer.from(token).toString('hex'), ...spelled]) {
    expect(tokensIn(`before ${text} after`, [token, 'another'])).toEqual([token])
  }
  expect(tokensIn('nothing', [token])).toEqual([])
})

test.each([
  ['text', `'x ${token}'`],
  ['bytea', `'x ${token}'::bytea`],
  ['text[]', `array['${token}']`],
  ['jsonb', `'{"a":"${token}"}'`],
])('a token is found in a column of %s', async (type, value) => {
  await database.db.sql.unsafe(
    `drop table if exists agent.kept; create table agent.kept (a ${type}); insert into agent.kept values (${value})`,
  )
  expect(await tokensInDatabase(database.db, [token])).toEqual([`${token} in agent.kept.a`])
})
