const TIMESTAMPTZ = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00(?::00)?$/

/**
 * A `timestamptz` of a UTC session as the wire spells it: `Z`, no fraction or six digits. What no wire field can hold
 * (`infinity`, years beyond 9999, BC) stays as Postgres wrote it.
 */
export const utcTimestamp = (text: string): string => {
  const match = TIMESTAMPTZ.exec(text)
  if (!match) return text
  const [, date, time, fraction] = match
  return `${date}T${time}${fraction === undefined ? '' : `.${fraction.padEnd(6, '0')}`}Z`
}

/** An `int8` as a number while JavaScript can hold it exactly, else as a bigint, which no serialiser mistakes. */
export const int8 = (text: string): number | bigint => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
