import { accountTurns } from './account-turns.ts'
import { OVERLOADED } from './load.ts'

/** How many requests of one account are in line. */
type Party = { length: number }

/** Above so many accounts those who are not in line are forgotten. */
const MAX_PARTIES = 1000

/** Who is in line, of which account; parties are kept when they are empty, since most accounts come back at once. */
const createParties = () => {
  const parties = new Map<string, Party>()
  let length = 0
  let present = 0

  const forgetEmpty = (): void => {
    for (const [account_id, party] of parties) if (party.length === 0) parties.delete(account_id)
  }

  const partyOf = (account_id: string): Party => {
    const known = parties.get(account_id)
    if (known) return known
    if (parties.size >= MAX_PARTIES) forgetEmpty()
    const party = { length: 0 }
    parties.set(account_id, party)
    return party
  }

  return {
    get length() {
      return length
    },
    enter: (account_id: string): Party => {
      const party = partyOf(account_id)
      if (party.length === 0) present += 1
      party.length += 1
      length += 1
      return party
    },
    leave: (party: Party): void => {
      party.length -= 1
      length -= 1
      if (party.length === 0) present -= 1
    },
    isOwed: (account_id: string | null, most: number): boolean => {
      if (account_id === null) return false
      const own = parties.get(account_id)?.length ?? 0
      return own < most / (own === 0 ? present + 1 : present)
    },
  }
}

/** Lets some be worked on at a time; whoever comes then waits for a turn, and accounts take turns. */
export const createLine = (places: () => number, onRefused: () => void) => {
  const parties = createParties()
  const turns = accountTurns()
  let begun = 0

  const endTurn = (): void => {
    begun -= 1
    for (; !turns.areOver && begun < places(); begun += 1) turns.beginNext()
  }

  return {
    /** Those who are worked on, and those who wait. */
    get length() {
      return parties.length
    },
    /** Whether an account has less of the line than its share, were `most` divided among all who are there; strangers have none. */
    isOwed: parties.isOwed,
    /**
     * Does some work when its turn has come.
     *
     * @throws ApiError `unavailable` when the line was cut before
     */
    inTurn: async <T>(account_id: string, work: () => Promise<T>): Promise<T> => {
      const party = parties.enter(account_id)
      let hasBegun = turns.areOver && begun < places()
      try {
        if (hasBegun) begun += 1
        else await turns.wait(account_id)
        hasBegun = true
        return await work()
      } finally {
        parties.leave(party)
        if (hasBegun) endTurn()
      }
    },
    /** Does some work at once, which takes nobody's place but counts like the others. */
    atOnce: async <T>(account_id: string, work: () => Promise<T>): Promise<T> => {
      const party = parties.enter(account_id)
      try {
        return await work()
      } finally {
        parties.leave(party)
      }
    },
    /** Refuses who came last of those with most who wait, until so many are left; what has begun is not given up. */
    cut: (left: number): void => {
      for (let surplus = parties.length - left; surplus > 0 && !turns.areOver; surplus -= 1) {
        turns.refuseLast(OVERLOADED)
        onRefused()
      }
    },
  }
}
