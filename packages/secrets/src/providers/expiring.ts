/** A value that stops being good, such as an access token. */
export type Expiring<T> = { value: T; lifetimeMs: number }

export type Renewed<T> = {
  /** The value, obtained once however many ask, and again shortly before it expires. */
  current: () => Promise<T>
  /** Forgets a value that was refused. */
  drop: () => void
}

const MARGIN_MS = 60_000

/** Keeps an expiring value until a minute before its end. @param now a monotonic clock in milliseconds */
export const renewed = <T>(obtain: () => Promise<Expiring<T>>, now = () => performance.now()): Renewed<T> => {
  let held: { answer: Promise<Expiring<T>>; until: number } | undefined
  const drop = () => {
    held = undefined
  }
  const begin = () => (held = { answer: obtain(), until: Number.POSITIVE_INFINITY })

  const current = async (): Promise<T> => {
    const askedAt = now()
    const mine = held && askedAt < held.until ? held : begin()
    try {
      const { value, lifetimeMs } = await mine.answer
      if (mine.until === Number.POSITIVE_INFINITY) mine.until = askedAt + lifetimeMs - MARGIN_MS
      return value
    } catch (error) {
      if (held === mine) drop()
      throw error
    }
  }
  return { current, drop }
}
