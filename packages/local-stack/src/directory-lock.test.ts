import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockDirectory } from './directory-lock.ts'

let directory: string
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'keelson-lock-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

test('a lock is released on dispose and can be taken again', async () => {
  await (await lockDirectory(directory))[Symbol.asyncDispose]()
  await using _again = await lockDirectory(directory)
  expect(await readFile(join(directory, 'lock'), 'utf8')).toBe(`${process.pid}\n`)
})

test.each([
  ['a process that is gone', '2147483646'],
  ['a process that is another program', '1'],
  ['nobody, because its write was cut off', ''],
])('a lock left by %s is taken over', async (_holder, content) => {
  await writeFile(join(directory, 'lock'), content)
  await using _lock = await lockDirectory(directory)
  expect(await readFile(join(directory, 'lock'), 'utf8')).toBe(`${process.pid}\n`)
})
