import { readFile, writeFile } from 'node:fs/promises'

/** Replaces what stands in a document between `<!-- NAME… -->` and `<!-- /NAME -->`; all else stays. */
export const writeSection = async (file: string, name: string, text: string): Promise<void> => {
  const current = await readFile(file, 'utf8')
  const section = new RegExp(`(<!-- ${name}\\b[^>]*-->)[^]*(<!-- /${name} -->)`)
  if (!section.test(current)) throw new Error(`${file} has no section ${name}`)
  await writeFile(
    file,
    current.replace(section, (_all, begin: string, end: string) => `${begin}\n\n${text}\n\n${end}`),
  )
}
