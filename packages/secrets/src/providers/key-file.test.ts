import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KeyConfigurationError } from '../errors.ts'
import { createKeyFile, readKeyFile } from './key-file.ts'
import { keyProvider } from './key-provider-from-settings.ts'
import { generateKey } from './local-keys.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-keys-'))
})
afterAll(() => rm(directory, { recursive: true }))

const written = async (name: string, text: string, mode = 0o600) => {
  const path = join(directory, name)
  await writeFile(path, text)
  await chmod(path, mode)
  return path
}
const refusal = (path: string) =>
  readKeyFile(path).then(
    () => undefined,
    (error: unknown) => error,
  )

describe('creating a key file', () => {
  test('makes one that only its owner reads, and a provider that works', async () => {
    const path = join(directory, 'new', 'deep', 'keys')
    const { kek_id, created } = await createKeyFile(path)
    expect([created, (await stat(path)).mode & 0o777]).toEqual([true, 0o600])
    const provider = await keyProvider({ provider: 'file', path })
    expect(provider.id).toBe(kek_id)
    await provider.selfTest()
    expect(await readdir(join(directory, 'new', 'deep'))).toEqual(['keys'])
  })

  test('keeps the file that is there', async () => {
    const path = join(directory, 'kept')
    const first = await createKeyFile(path)
    const text = await readFile(path, 'utf8')
    expect(await createKeyFile(path)).toEqual({ kek_id: first.kek_id, created: false })
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  test('twenty at once make one', async () => {
    const path = join(directory, 'raced')
    const made = await Promise.all(Array.from({ length: 20 }, () => createKeyFile(path)))
    expect(new Set(made.map(({ kek_id }) => kek_id)).size).toBe(1)
    expect(made.filter(({ created }) => created)).toHaveLength(1)
  })

  test('refuses a file that is there and cannot be used, and leaves it alone', async () => {
    const path = await written('foreign', 'hello')
    await expect(createKeyFile(path)).rejects.toBeInstanceOf(KeyConfigurationError)
    expect(await readFile(path, 'utf8')).toBe('hello')
  })
})

describe('reading a key file', () => {
  test('takes the first key as current and the others to unwrap with', async () => {
    const [current, previous] = [generateKey(), generateKey()]
    const path = await written('two', `# ours\n${current}\n${previous}\n`)
    const provider = await keyProvider({ provider: 'file', path })
    expect(provider.kek_ids).toEqual([current, previous].map((key) => `local:${key.split(':')[0]}`))
  })

  test.each([0o640, 0o604, 0o660, 0o644, 0o602, 0o610])('refuses mode %o', async (mode) => {
    const path = await written('open', generateKey(), mode)
    const error = await refusal(path)
    expect(error).toBeInstanceOf(KeyConfigurationError)
    expect(String(error)).toContain(`key file ${path}: is open to others (mode ${mode.toString(8)}): chmod 600`)
  })

  test('accepts a read-only file, also through a link', async () => {
    const path = await written('read-only', generateKey(), 0o400)
    await symlink(path, join(directory, 'link'))
    await expect(readKeyFile(join(directory, 'link'))).resolves.toHaveLength(1)
  })

  test('refuses what is missing, not a file, too long or not a key, and says which', async () => {
    await mkdir(join(directory, 'folder'), { mode: 0o700 })
    expect(String(await refusal(join(directory, 'none')))).toContain('is missing')
    expect(String(await refusal(join(directory, 'folder')))).toContain('is not a regular file')
    expect(String(await refusal(await written('long', `#${'x'.repeat(70_000)}`)))).toContain('is too long')
    expect(String(await refusal(await written('empty', '')))).toContain('holds no key')
    expect(String(await refusal(await written('short', Buffer.alloc(16, 7).toString('base64'))))).toContain('32 bytes')
  })
})
