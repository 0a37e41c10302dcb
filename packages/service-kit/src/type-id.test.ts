import { describe, expect, test, vi } from 'vitest'
import { typeId, uuidv7 } from './type-id.ts'

const many = (make: () => string) => Array.from({ length: 20_000 }, make)

describe('ids', () => {
  test('a uuidv7 has its version, its variant and the time', () => {
    const before = Date.now()
    const id = uuidv7()
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    const time = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(Date.now() + 100)
  })

  test('a type id is its prefix and 26 characters of base32', () => {
    expect(typeId('cred')).toMatch(/^cred_[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}$/)
  })

  test.each([
    ['uuidv7', uuidv7],
    ['typeId', () => typeId('span')],
  ])('%s never repeats and sorts as text by creation', (_name, make) => {
    const ids = many(make)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.toSorted()).toEqual(ids)
  })

  test('the order holds when the clock steps back', () => {
    const before = uuidv7()
    vi.useFakeTimers({ now: Date.now() - 60_000 })
    try {
      expect(uuidv7() > before).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })

  test('both forms stand for the same bits', () => {
    vi.useFakeTimers({ now: 0x0190_0000_0000 + 10 ** 12 })
    try {
      const [uuid, id] = [uuidv7(), typeId('x')]
      const bits = Array.from(id.slice(2), (letter) =>
        '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(letter).toString(2).padStart(5, '0'),
      ).join('')
      const hex = BigInt(`0b${bits}`).toString(16).padStart(32, '0')
      expect(hex.slice(0, 13)).toBe(uuid.replaceAll('-', '').slice(0, 13))
    } finally {
      vi.useRealTimers()
    }
  })
})
