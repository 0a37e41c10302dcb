/** Whether a text matches a pattern in which `*` stands for anything. */
export const matchesGlob = (pattern: string, text: string): boolean => {
  const source = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*')
  return new RegExp(`^${source}$`, 's').test(text)
}
