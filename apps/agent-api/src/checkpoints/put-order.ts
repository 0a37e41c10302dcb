/**
 * Lets a put wait for the one under way that it builds on, whether that succeeds or not. Whoever comes first waits for
 * nobody, so puts never wait in a circle.
 */
export const putOrder = () => {
  const underWay = new Map<string, Promise<void>>()
  return (key: string, builtOn: string, put: () => Promise<void>): Promise<void> => {
    const done = underWay.get(builtOn)?.then(put, put) ?? put()
    const forget = () => void (underWay.get(key) === done && underWay.delete(key))
    underWay.set(key, done)
    done.then(forget, forget)
    return done
  }
}
