import type { Database } from '@keelson/database'
import type postgres from 'postgres'

const BY_VALUE = /\baccount_id = $/
const BY_COLUMN = /\baccount_id = [a-z]+\.account_id\b/g

const loosened = (strings: TemplateStringsArray): { strings: TemplateStringsArray; count: number } => {
  let count = 0
  const loosen = (text: string): string =>
    text
      .replace(BY_VALUE, () => {
        count += 1
        return `account_id <> '' and '' <> `
      })
      .replaceAll(BY_COLUMN, () => {
        count += 1
        return `account_id <> ''`
      })
  const changed = strings.map(loosen)
  return { strings: Object.assign(changed, { raw: changed }), count }
}

type Tag = (first: TemplateStringsArray, ...rest: unknown[]) => unknown

/**
 * The same database with a fault in every query: the condition on the account is gone. A test that still passes on it
 * tests nothing.
 *
 * @param onRemoved told of each condition that was taken away
 */
export const withoutAccountConditions = (db: Database, onRemoved: () => void): Database => {
  const faulty = <Sql extends postgres.ISql>(sql: Sql): Sql =>
    new Proxy(sql, {
      apply: (target, self, [first, ...rest]: [TemplateStringsArray, ...unknown[]]) => {
        const call = (strings: TemplateStringsArray) => (target as unknown as Tag).call(self, strings, ...rest)
        if (!Array.isArray(first) || !('raw' in first)) return call(first)
        const { strings, count } = loosened(first)
        for (let index = 0; index < count; index += 1) onRemoved()
        return call(count === 0 ? first : strings)
      },
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (name !== 'begin' && name !== 'savepoint') return value
        return (run: (tx: postgres.TransactionSql) => unknown) =>
          (value as (run: (tx: postgres.TransactionSql) => unknown) => unknown).call(target, (tx) => run(faulty(tx)))
      },
    })
  return { ...db, sql: faulty(db.sql), [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
}
