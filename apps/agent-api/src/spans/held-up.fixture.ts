import { connect } from '@keelson/database'
import type { testApp } from '../test-app.fixture.ts'

type App = Awaited<ReturnType<typeof testApp>>

/** Connections beside those of the service, to hold up what it asks for and to see how much of it waits. */
export const outsideOf = ({ url }: App) => {
  const outside = connect({ url, applicationName: 'outside', maxConnections: 2 })
  return {
    sql: outside.sql,
    /** How many statements have a connection of the service, while none of them can go on. */
    inFlight: async (): Promise<number> => {
      const waiting = await outside.sql`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'test' and wait_event_type = 'Lock'`
      return waiting.length
    },
    [Symbol.asyncDispose]: () => outside[Symbol.asyncDispose](),
  }
}
