import { FreeFormValue } from '@keelson/contracts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ApiError } from './api-error.ts'
import { jsonReader } from './json-reader.ts'
import { shapeOf } from './json-shape.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const typed = jsonReader(shapeOf(z.unknown()))
const free = jsonReader(shapeOf(FreeFormValue))

const codeOf = (read: (bytes: Uint8Array) => unknown, body: Uint8Array): string => {
  try {
    read(body)
    return 'accepted'
  } catch (error) {
    return error instanceof ApiError ? error.code : 'untyped'
  }
}

describe('the cost', () => {
  /** The best of three: another process may take the processor away. */
  const milliseconds = (act: () => unknown): number => {
    const runs = [1, 2, 3].map(() => {
      const started = performance.now()
      act()
      return performance.now() - started
    })
    return Math.min(...runs)
  }

  test('a million open brackets are refused without being parsed', () => {
    for (const open of ['[', '{"a":']) {
      const body = bytes(open.repeat(1_000_000))
      expect(codeOf(typed, body)).toBe('invalid_request')
      // Measured in single digits; a parse of this takes seconds.
      expect(milliseconds(() => codeOf(typed, body))).toBeLessThan(500)
      expect(milliseconds(() => codeOf(free, body))).toBeLessThan(500)
    }
  })

  test.each([
    ['backslashes', `"${'\\\\'.repeat(2_000_000)}"`],
    ['escaped quotes', `"${'\\"'.repeat(2_000_000)}"`],
    ['an open string of quotes', `"${'\\"'.repeat(2_000_000)}`],
    ['a long number', '1'.repeat(4_000_000)],
    ['zeros', `0.${'0'.repeat(4_000_000)}1`],
    ['names', `{${Array.from({ length: 150_000 }, (_, index) => `"${index}":0`).join(',')}}`],
    ['short strings with escapes', `[${'"\\n",'.repeat(150_000)}0]`],
  ])('4 MB of %s take a time that grows with their length only', (_name, text) => {
    const body = bytes(text)
    expect(milliseconds(() => codeOf(typed, body))).toBeLessThan(1000)
    expect(milliseconds(() => codeOf(free, body))).toBeLessThan(1000)
  })
})
