import { customType } from 'drizzle-orm/pg-core'

/** A moment as the wire spells it, `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`: no Date on the way, which would lose microseconds. */
export const timestamp = customType<{ data: string; driverData: string }>({
  dataType: () => 'timestamp with time zone',
})

/** Bytes as a Buffer. */
export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' })

/** Free-form JSON as its own text, never re-serialised. */
export const jsonText = customType<{ data: string; driverData: string }>({ dataType: () => 'text' })
