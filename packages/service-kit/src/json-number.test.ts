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

/** Numbers in every form of JSON: a whole part, a fraction with zeros around it, a power of ten in either case. */
const numbers = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(fc.constant('0'), fc.bigInt({ min: 1n, max: 10n ** 24n }).map(String)),
    fraction: fc.oneof(fc.constant(''), fc.stringMatching(/^\.0{0,3}\d{1,20}0{0,3}$/)),
    power: fc.oneof(
      fc.constant(''),
      fc.stringMatching(/^[eE][+-]?0?\d{1,2}$/),
      fc.constantFrom('e308', 'E-308', 'e+400'),
    ),
  })
  .map(({ sign, whole, fraction, power }) => sign + whole + fraction + power)

/** The value of a decimal as a whole number of 10^-1000. */
const quanta = (text: string): bigint => {
  const [mantissa = '', power = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return BigInt(whole + fraction) * 10n ** BigInt(1000 + Number(power) - fraction.length)
}

test('a number is held exactly when it is worth what JSON.parse makes of it, in whichever form', () => {
  fc.assert(
    fc.property(numbers, (text) => {
      const parsed = JSON.parse(text) as number
      const isHeld = Number.isFinite(parsed) && quanta(String(parsed)) === quanta(text)
      expect([text, holds(text)]).toEqual([text, isHeld])
    }),
    { numRuns: 1000 },
  )
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
