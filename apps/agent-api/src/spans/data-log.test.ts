import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldData, SEGMENT, segmentsOf } from './data-log.ts'

const fold = (...texts: string[]) => foldData(texts.join(SEGMENT))

describe('the data of a span', () => {
  test('is untouched while nobody patched it', () => {
    const text = ' { "a" : 1.0 ,"a":2, "b":"\\u0000"} '
    expect(foldData(text)).toBe(text)
  })

  test.each([
    [['{"a":1}', '{"b":2}'], '{"a":1,"b":2}'],
    [['{"a":1,"b":2}', '{"a":3}'], '{"a":3,"b":2}'],
    [['{"a":1.0}', '{"b":12345678901234567890}'], '{"a":1.0,"b":12345678901234567890}'],
    [['{"a":"\\ud800"}', '{"\\u0000":1}'], '{"a":"\\ud800","\\u0000":1}'],
    [['{"a":{"x":1}}', '{"a":{"y":2}}'], '{"a":{"y":2}}'],
    [['{"a":1}', '{}'], '{"a":1}'],
    [['{}', ' { "a" : [ 1 , {"b":"}"} ] } '], '{"a":[ 1 , {"b":"}"} ]}'],
    [['{"a":1}', '[{"b":2}]'], '[{"b":2}]'],
    [['[{"b":2}]', '{"a":1}'], '{"a":1}'],
    [['{"a\\"\\\\":"\\\\"}', '{"b":"\\\\\\""}'], '{"a\\"\\\\":"\\\\","b":"\\\\\\""}'],
    [['{"\\u0061":1}', '{"a":2}'], '{"\\u0061":2}'],
    [[' { "a" : 1 , "b":\t2 } ', '{}', '{"a":3}', '{"c":4}'], ' { "a" : 3 , "b":\t2,"c":4 } '],
    [['{"a":1,"a":2}', '{"a":3}'], '{"a":1,"a":3}'],
  ])('%j folds to %s', (segments, expected) => {
    expect(fold(...segments)).toBe(expected)
  })

  test('folds like objects that are assigned one after the other', () => {
    const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(objects, fc.constantFrom(undefined, 2), (patches, indent) => {
        const log = patches.map((patch) => JSON.stringify(patch, null, indent)).join(SEGMENT)
        expect(segmentsOf(log)).toBe(patches.length)
        expect(JSON.parse(foldData(log))).toEqual(
          JSON.parse(JSON.stringify(Object.assign(Object.create(null), ...patches))),
        )
      }),
    )
  })
})
