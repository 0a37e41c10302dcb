import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { holdsExactly } from './json-number.ts'

const holds = (text: string): boolean => holdsExactly(`[${text}]`, 1, 1 + text.length)

test.each([
  ['1.25e-7', true],
  ['0.12e1', true],
  ['15e-1', true],
  ['1e400', false],
  ['1e-400', false],
  ['9007199254740992', true],
  ['9007199254740993', false],
  ['-9007199254740993.0', false],
  [`1.${'0'.repeat(398)}`, true],
  [`1.${'0'.repeat(399)}`, false],
])('%s is held exactly: %s', (text, expected) => {
  expect(holds(text)).toBe(expected)
})

test('every double is held, wherever its decimal point stands', () => {
  fc.assert(
    fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
      const [, sign = '', whole = '', fraction = '', power = '0'] =
        /^(-?)(\d)(?:\.(\d+))?e(.+)$/.exec(value.toExponential()) ?? []
      expect(holds(value.toExponential())).toBe(true)
      expect(holds(`${sign}${whole}${fraction}E${Number(power) - fraction.length}`)).toBe(true)
      expect(holds(`${sign}0.00${whole}${fraction}000e${Number(power) + 3}`)).toBe(true)
    }),
  )
})

test.each(['1e5x', 'x1e5', '1e', 'no number at all'])('%s is left to the parser', (text) => {
  expect(holds(text)).toBe(true)
})
