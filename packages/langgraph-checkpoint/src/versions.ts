/** Sorts as text by its number, and differs from what another branch makes of the same version. */
const newVersion = (current: number | undefined): number => {
  const next = current === undefined ? 1 : Number.parseInt(String(current), 10) + 1
  const random = Math.floor(Math.random() * 1e16)
  const version = `${String(next).padStart(32, '0')}.${String(random).padStart(16, '0')}`
  // LangGraph takes texts as well, but its graphs are typed for savers with numbers.
  return version as unknown as number
}

/**
 * Makes the versions of one branch: the same one for every channel of a step, as integers would be. LangGraph asks for each
 * channel, and tells by equal versions that nodes ran side by side, so that an update after them must name one.
 */
export const versionsOfBranch = () => {
  let last: { current: number | undefined; version: number } | undefined
  return (current: number | undefined): number => {
    if (last === undefined || last.current !== current) {
      last = { current, version: newVersion(current) }
      // A step is applied in one go; a call that comes later is of another.
      queueMicrotask(() => (last = undefined))
    }
    return last.version
  }
}
