import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hintOf, isKey, KEY_PATTERN } from './key-format.ts'

export type LeakedKey = { path: string; line: number; hint: string }

const SKIPPED = new Set(['.git', 'node_modules'])
const CARRY = 64

const filesUnder = async function* (path: string): AsyncGenerator<string> {
  const isFolder = (await stat(path)).isDirectory()
  if (!isFolder) yield path
  const entries = isFolder ? await readdir(path, { withFileTypes: true }) : []
  for (const entry of entries) {
    const inner = join(path, entry.name)
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) yield* filesUnder(inner)
    if (entry.isFile()) yield inner
  }
}

const linesIn = (text: string): number => text.split('\n').length - 1

/** Reads in pieces that overlap by more than a key and its surroundings, so that no key is cut in two. */
const scanFile = async function* (path: string): AsyncGenerator<LeakedKey> {
  let text = ''
  let line = 1
  let last = false
  const chunks = createReadStream(path, { encoding: 'latin1' })[Symbol.asyncIterator]()
  while (!last) {
    const { value, done } = await chunks.next()
    last = done === true
    text += last ? '' : (value as string)
    const limit = last ? text.length : Math.max(0, text.length - CARRY)
    for (const match of text.matchAll(KEY_PATTERN)) {
      if (match.index >= limit || !isKey(match[0], 'user', 'service_account', 'agent')) continue
      yield { path, line: line + linesIn(text.slice(0, match.index)), hint: hintOf(match[0]) }
    }
    // One character more is kept, so that the pattern still sees what stands before a key.
    const cut = Math.max(0, limit - 1)
    line += linesIn(text.slice(0, cut))
    text = text.slice(cut)
  }
}

/**
 * Finds keys, issued or not, in files: by form and checksum, so nothing else is reported. Symbolic links, `.git` and
 * `node_modules` are passed over.
 */
export const scanForKeys = async function* (paths: readonly string[]): AsyncGenerator<LeakedKey> {
  for (const path of paths) for await (const file of filesUnder(path)) yield* scanFile(file)
}
