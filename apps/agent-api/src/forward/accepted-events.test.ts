import { expect, test } from 'vitest'
import { acceptedEvents } from './accepted-events.ts'

test('the last 25,000 events are remembered, and never more than twice as many', () => {
  const events = acceptedEvents()
  for (let event = 0; event < 90_000; event += 1) {
    events.add(`${event}`)
    if (event % 1000 > 1) continue
    expect(events.has(`${event - 24_999}`) || event < 24_999).toBe(true)
    expect(events.has(`${event - 50_000}`)).toBe(false)
  }
})

test('what has no id is never known', () => {
  const events = acceptedEvents()
  events.add(null)
  expect(events.has(null)).toBe(false)
})
