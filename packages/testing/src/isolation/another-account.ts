import type { Database } from '@keelson/database'
import type postgres from 'postgres'

type Tag = (first: TemplateStringsArray, ...rest: unknown[]) => unknown

/**
 * The same database with a fault in every statement: whatever names the one account names the other. So statements are
 * tried that have no condition to remove, inserts and calls of functions.
 */
export const asAnotherAccount = (db: Database, one: string, other: string): Database => {
  const swap = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll(one, other)
    return Array.isArray(value) ? value.map(swap) : value
  }

  const faulty = <Sql extends postgres.ISql>(sql: Sql): Sql =>
    new Proxy(sql, {
      apply: (target, self, [first, ...rest]: [TemplateStringsArray, ...unknown[]]) => {
        const isTemplate = Array.isArray(first) && 'raw' in first
        return (target as unknown as Tag).call(self, first, ...(isTemplate ? rest.map(swap) : rest))
      },
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (name === 'unsafe') {
          return (text: string, values?: unknown[], options?: postgres.UnsafeQueryOptions) =>
            target.unsafe(text, swap(values) as never, options)
        }
        if (name !== 'begin' && name !== 'savepoint') return value
        return (run: (tx: postgres.TransactionSql) => unknown) =>
          (value as (run: (tx: postgres.TransactionSql) => unknown) => unknown).call(target, (tx) => run(faulty(tx)))
      },
    })
  return { ...db, sql: faulty(db.sql), [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
}
