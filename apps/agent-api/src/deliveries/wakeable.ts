/** A pause that ends when woken; being woken before it begins counts too. */
export const wakeable = () => {
  let isAwake = false
  let end = () => {}
  return {
    wake: (): void => {
      isAwake = true
      end()
    },
    until: async (ms: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      end = resolve
      if (isAwake) resolve()
      await promise
      clearTimeout(timer)
      isAwake = false
    },
  }
}
