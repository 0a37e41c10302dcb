import { FreeFormValue } from '@keelson/contracts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonReader } from './json-reader.ts'
import { MAX_DEPTH, type Scan, scanJson } from './json-scan.ts'
import { shapeOf } from './json-shape.ts'

const SHAPES = {
  typed: shapeOf(z.unknown()),
  free: shapeOf(FreeFormValue),
  mixed: shapeOf(z.object({ free: FreeFormValue, list: z.array(FreeFormValue) })),
}

/** A text that counts how many of its characters are looked at; it has the methods that the scan uses, and no other. */
class CountedText {
  looks = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get length(): number {
    return this.#text.length
  }

  charCodeAt(index: number): number {
    this.looks += 1
    return this.#text.charCodeAt(index)
  }

  indexOf(part: string, from: number): number {
    const found = this.#text.indexOf(part, from)
    this.looks += (found === -1 ? this.length : found + part.length) - from
    return found
  }

  includes(part: string): boolean {
    return this.indexOf(part, 0) !== -1
  }

  startsWith(part: string, from: number): boolean {
    this.looks += part.length
    return this.#text.startsWith(part, from)
  }

  slice(start: number, end: number): string {
    this.looks += end - start
    return this.#text.slice(start, end)
  }
}

const scanCounted = (text: string, shape: (typeof SHAPES)['typed']): { looks: number; scan: Scan } => {
  const counted = new CountedText(text)
  const scan = scanJson(counted as unknown as string, shape)
  return { looks: counted.looks, scan }
}

/** How often a character is looked at, at most, in the mean. */
const LOOKS = 8

const looksPerCharacter = (text: string): number =>
  Math.max(...Object.values(SHAPES).map((shape) => scanCounted(text, shape).looks)) / (text.length + 1)

describe('the scan looks at every character a few times at most, however long the text is', () => {
  test.each([
    ['backslashes', `"${'\\\\'.repeat(200_000)}"`],
    ['escaped quotes', `"${'\\"'.repeat(200_000)}"`],
    ['an open string of quotes', `"${'\\"'.repeat(200_000)}`],
    ['open strings', '"\\'.repeat(200_000)],
    ['a long number', '1'.repeat(400_000)],
    ['zeros', `0.${'0'.repeat(400_000)}1`],
    ['spaces', ' '.repeat(400_000)],
    ['names', `{${Array.from({ length: 50_000 }, (_, index) => `"${index}":0`).join(',')}}`],
    ['names with escapes', `{${Array.from({ length: 50_000 }, (_, index) => `"\\n${index}":0`).join(',')}}`],
    ['short strings with escapes', `[${'"\\n",'.repeat(50_000)}0]`],
    ['free-form lists', `{"free":[${'[],'.repeat(50_000)}0],"list":[${'{"a":[1]},'.repeat(50_000)}0]}`],
    ['closing brackets', ']'.repeat(400_000)],
  ])('%s', (_name, text) => expect(looksPerCharacter(text)).toBeLessThanOrEqual(LOOKS))

  test('whatever the text', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', 'null', '1', '-', ' ', '"free":', '"list":')
    const texts = fc.array(pieces, { maxLength: 300, size: 'max' }).map((parts) => parts.join(''))
    const isLinear = fc.property(texts, (text) => {
      expect(looksPerCharacter(text)).toBeLessThanOrEqual(LOOKS)
    })
    fc.assert(isLinear)
  })
})

test('a million open brackets are refused at the first that is too deep, without being parsed', () => {
  for (const open of ['[', '{"a":']) {
    const text = open.repeat(1_000_000)
    for (const shape of [SHAPES.typed, SHAPES.free]) {
      const { looks, scan } = scanCounted(text, shape)
      expect(scan.flaw).toBe('depth')
      expect(looks - text.length).toBeLessThanOrEqual(LOOKS * open.length * (MAX_DEPTH + 1))
      // Parsed, it would be malformed: nothing closes these.
      expect(() => jsonReader(shape)(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'invalid_request' }))
    }
  }
})
