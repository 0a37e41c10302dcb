import { accountTurns } from '@keelson/service-kit'

/** Does some work when its turn has come. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export type FairTurns = <T>(account_id: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** Lets so many be worked on at a time; accounts take turns. What is aborted by its turn is not begun. */
export const fairTurns = (places: number): FairTurns => {
  const turns = accountTurns()
  let free = places

  return async (account_id, work, signal) => {
    if (free > 0) free -= 1
    else await turns.wait(account_id)
    try {
      signal?.throwIfAborted()
      return await work()
    } finally {
      if (turns.areOver) free += 1
      else turns.beginNext()
    }
  }
}
