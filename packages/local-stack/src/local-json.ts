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

const write = async (path: string, text: string) => {
  const beside = `${path}.new`
  await writeFile(beside, text, { mode: 0o600 })
  await rename(beside, path)
}

export const writeLocalJson = (directory: string, content: LocalJson) =>
  write(pathIn(directory), `${JSON.stringify(content, null, 2)}\n`)

/** What the commands of operators read from their environment, for a shell to source; readable by its owner only. */
export const writeOperatorEnv = (directory: string, environment: { DATABASE_URL: string; KEY_FILE: string }) => {
  const lines = Object.entries(environment).map(
    ([name, value]) => `${name}='${value.replaceAll("'", String.raw`'\''`)}'\n`,
  )
  return write(join(directory, 'operator.env'), lines.join(''))
}
