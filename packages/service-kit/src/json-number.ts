/** Any decimal of so few characters reads back from a double as itself. */
const ALWAYS_EXACT_LENGTH = 15
/** Longer ones are refused unread. */
const MAX_LENGTH = 400

const withoutLeadingZeros = (digits: string): string => {
  let from = 0
  while (digits.charCodeAt(from) === 0x30) from++
  return digits.slice(from)
}

const trailingZeros = (digits: string): number => {
  let count = 0
  while (digits.charCodeAt(digits.length - 1 - count) === 0x30) count++
  return count
}

/** A number's significant digits and its power of ten: equal for `1e2`, `100` and `100.0`, `null` for zero and for no number. */
const decimalOf = (text: string): string | null => {
  const [, whole = '', fraction = '', power] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = withoutLeadingZeros(whole + fraction)
  if (digits === '') return null
  const zeros = trailingZeros(digits)
  return `${digits.slice(0, digits.length - zeros)}e${Number(power ?? 0) - fraction.length + zeros}`
}

/**
 * Whether JavaScript holds the number as it is written: what it reads must print as the same decimal value. Refuses
 * 9007199254740993 and 1e400; takes 0.1, 1.0, 1E2 and -0.
 */
export const holdsExactly = (text: string, start: number, end: number): boolean => {
  const length = end - start
  if (length > MAX_LENGTH) return false
  const number = text.slice(start, end)
  if (length <= ALWAYS_EXACT_LENGTH && !/[eE]/.test(number)) return true
  return decimalOf(number) === decimalOf(String(Number(number)))
}
