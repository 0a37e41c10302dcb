type Put<Result> = (answered: Promise<unknown> | undefined) => Promise<Result>

/**
 * Tells a put when the one under way that it builds on has been answered: LangGraph puts some without waiting for the one
 * before, and on its way to the service a child may overtake its parent.
 */
export const putOrder = () => {
  const underWay = new Map<string, Promise<unknown>>()
  return async <Result>(key: string, builtOn: string, put: Put<Result>): Promise<Result> => {
    const done = put(underWay.get(builtOn)?.catch(() => {}))
    underWay.set(key, done)
    try {
      return await done
    } finally {
      if (underWay.get(key) === done) underWay.delete(key)
    }
  }
}
