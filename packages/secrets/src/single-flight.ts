export type SingleFlight<T> = {
  /** Starts `load`, or joins the one under way. */
  join(name: string, load: () => Promise<T>): Promise<T>
  /** Lets the next caller start anew; what is under way still answers those who joined it, and is not landed. */
  forget(name?: string): void
}

/** Loads each thing once however many ask for it at the same time. @param land is told of every value, once */
export const singleFlight = <T>(land: (name: string, value: T) => void): SingleFlight<T> => {
  const underway = new Map<string, Promise<T>>()

  const finish = async (name: string, loaded: Promise<T>): Promise<void> => {
    const [outcome] = await Promise.allSettled([loaded])
    if (underway.get(name) !== loaded) return
    underway.delete(name)
    if (outcome.status === 'fulfilled') land(name, outcome.value)
  }

  const join = (name: string, load: () => Promise<T>): Promise<T> => {
    const joined = underway.get(name)
    if (joined) return joined
    const loaded = load()
    underway.set(name, loaded)
    void finish(name, loaded)
    return loaded
  }

  const forget = (name?: string) => {
    if (name === undefined) underway.clear()
    else underway.delete(name)
  }

  return { join, forget }
}
