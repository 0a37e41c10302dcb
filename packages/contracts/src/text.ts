import { z } from '@hono/zod-openapi'

const encoder = new TextEncoder()

const CONTROL_CHARACTER = /\p{Cc}/u
/** What turns or hides its neighbours, so that two names look alike; joiners are left, which scripts and emoji need. */
const DISGUISE = /[\u200B\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/u

/** The size of a text in bytes of UTF-8. */
export const utf8Bytes = (text: string): number => encoder.encode(text).length

const fitsBytes = (text: string, maximum: number): boolean =>
  text.length * 3 <= maximum || (text.length <= maximum && utf8Bytes(text) <= maximum)

const fitsCharacters = (text: string, maximum: number): boolean =>
  text.length <= maximum || (text.length <= 2 * maximum && Array.from(text).length <= maximum)

type Rule = { holds: (text: string) => boolean; error: string }

const STORABLE: Rule = {
  holds: (text) => text.isWellFormed() && !text.includes('\0'),
  error: 'must be well-formed text without U+0000',
}

/** Text that keeps rules, in one check: one for each costs several times as much, and a request has dozens of texts. */
const textThat = (...rules: readonly Rule[]) =>
  z.string().check(({ value, issues }) => {
    for (const { holds, error } of rules)
      if (!holds(value)) issues.push({ code: 'custom', message: error, input: value, continue: true })
  })

/** Text that every part of the system can hold: well-formed Unicode without U+0000. */
export const Text = textThat(STORABLE)

/** Text of at most `maximumBytes` bytes of UTF-8. */
export const textWithin = (maximumBytes: number, minimumCharacters = 0) =>
  textThat(
    STORABLE,
    { holds: (text) => text.length >= minimumCharacters, error: 'must not be empty' },
    { holds: (text) => fitsBytes(text, maximumBytes), error: `must be at most ${maximumBytes} bytes of UTF-8` },
  ).openapi({ ...(minimumCharacters > 0 && { minLength: minimumCharacters }), maxLength: maximumBytes })

/** An id, in a path or chosen by the caller: 1 to 255 bytes of UTF-8. */
export const Id = textWithin(255, 1)

/** A name people read and type: 1 to 255 characters, not all blank, none that controls, turns or hides others. */
export const Name = textThat(
  STORABLE,
  { holds: (text) => text.trim() !== '', error: 'must not be empty' },
  { holds: (text) => fitsCharacters(text, 255), error: 'must be at most 255 characters' },
  { holds: (text) => !CONTROL_CHARACTER.test(text), error: 'must not hold control characters' },
  { holds: (text) => !DISGUISE.test(text), error: 'must not hold characters that turn or hide others' },
).openapi({ minLength: 1, maxLength: 255 })
