import { randomUUID } from 'node:crypto'
import { link, mkdir, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { KeyConfigurationError } from '../errors.ts'
import { generateKey, parseKeys, type LocalKey } from './local-keys.ts'

const MAX_BYTES = 64 * 1024
const OTHERS = 0o077

const PREAMBLE = `# Keelson key-encryption keys, one a line: label:base64. The first wraps, all unwrap.
# Without them the secrets in the database are lost: keep two copies away from it. Mode 0600.
`

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown error')

const refuse = (path: string, why: string): never => {
  throw new KeyConfigurationError(`key file ${path}: ${why}`)
}

/**
 * Reads a key file.
 *
 * @throws KeyConfigurationError when it is missing, not a regular file, open to group or others, too long, or holds a
 *   key that is short, weak or damaged
 */
export const readKeyFile = async (path: string): Promise<LocalKey[]> => {
  await using file = await open(path, 'r').catch((error: unknown) => {
    const code = codeOf(error)
    return refuse(path, code === 'ENOENT' ? 'is missing' : `cannot be opened (${code})`)
  })
  const { mode, size } = await file.stat()
  if ((mode & 0o170000) !== 0o100000) refuse(path, 'is not a regular file')
  if ((mode & OTHERS) !== 0) refuse(path, `is open to others (mode ${(mode & 0o777).toString(8)}): chmod 600`)
  if (size > MAX_BYTES) refuse(path, 'is too long')
  const bytes = await file.readFile()
  try {
    return parseKeys(bytes.toString('utf8'), `key file ${path}`)
  } finally {
    bytes.fill(0)
  }
}

const writeDraft = async (draft: string): Promise<void> => {
  await using file = await open(draft, 'wx', 0o600)
  await file.writeFile(`${PREAMBLE}${generateKey()}\n`)
  await file.sync()
}

const linkOnce = async (draft: string, path: string): Promise<boolean> => {
  try {
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
  await using directory = await open(dirname(path), 'r')
  await directory.sync()
  return true
}

/**
 * Makes a key file with one new key, mode 0600, whole or not at all. A file that exists is read and kept, whoever made it.
 *
 * @returns the id of the current key and whether it was made now
 * @throws KeyConfigurationError when the file that exists cannot be used
 */
export const createKeyFile = async (path: string): Promise<{ kek_id: string; created: boolean }> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}.new`
  await writeDraft(draft)
  try {
    const created = await linkOnce(draft, path)
    const [current] = await readKeyFile(path)
    return { kek_id: `local:${current!.label}`, created }
  } finally {
    await unlink(draft)
  }
}
