import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a client on this machine needs; kept in `local.json`, readable by its owner only. */
export type LocalJson = {
  platform_url: string
  agent_url: string
  simulator_url: string
  account_id: string
  api_key: string
}

const pathIn = (directory: string) => join(directory, 'local.json')

/** Null when the stack never started here. */
export const readLocalJson = async (directory: string): Promise<LocalJson | null> => {
  const text = await readFile(pathIn(directory), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return text === null ? null : JSON.parse(text)
}

export const writeLocalJson = async (directory: string, content: LocalJson) => {
  const beside = `${pathIn(directory)}.new`
  await writeFile(beside, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  await rename(beside, pathIn(directory))
}
