import type { Database } from '@keelson/database'
import type postgres from 'postgres'

const BY_VALUE = /\baccount_id = $/
const BY_COLUMN = /\baccount_id = [a-z]+\.account_id\b/g
const BY_NUMBER = /\baccount_id = (?=\$\d)/g

type Loosen = (text: string) => string

const loosening = (onRemoved: () => void): Loosen => {
  const put = (text: string) => () => {
    onRemoved()
    return text
  }
  return (text) =>
    text
      .replace(BY_VALUE, put(`account_id <> '' and '' <> `))
      .replaceAll(BY_NUMBER, put(`account_id <> '' and '' <> `))
      .replaceAll(BY_COLUMN, put(`account_id <> ''`))
}

type Tag = (first: TemplateStringsArray, ...rest: unknown[]) => unknown

/**
 * The same database with a fault in every query: the condition on the account is gone. A test that still passes on it
 * tests nothing.
 *
 * @param onRemoved told of each condition that was taken away
 */
export const withoutAccountConditions = (db: Database, onRemoved: () => void): Database => {
  const loosen = loosening(onRemoved)

  const faulty = <Sql extends postgres.ISql>(sql: Sql): Sql =>
    new Proxy(sql, {
      apply: (target, self, [first, ...rest]: [TemplateStringsArray, ...unknown[]]) => {
        const call = (strings: TemplateStringsArray) => (target as unknown as Tag).call(self, strings, ...rest)
        if (!Array.isArray(first) || !('raw' in first)) return call(first)
        const strings = first.map(loosen)
        return call(Object.assign(strings, { raw: strings }))
      },
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (name === 'unsafe') return (text: string, ...rest: never[]) => target.unsafe(loosen(text), ...rest)
        if (name !== 'begin' && name !== 'savepoint') return value
        return (run: (tx: postgres.TransactionSql) => unknown) =>
          (value as (run: (tx: postgres.TransactionSql) => unknown) => unknown).call(target, (tx) => run(faulty(tx)))
      },
    })
  return { ...db, sql: faulty(db.sql), [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
}
