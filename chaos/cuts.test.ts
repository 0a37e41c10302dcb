import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CONTROLS, type Cut } from './controls.ts'
import { cutOut } from './cuts.ts'
import { ROOT } from './stack/bundles.ts'

const sourceOf = ({ file }: Cut): string =>
  join(ROOT, file.startsWith('node_modules/') ? join('packages/database', file) : file)

describe.each(Object.entries(CONTROLS))('the control %s', (_, { cuts }) => {
  test('cuts a guard out that is there, once', async () => {
    const texts = await Promise.all(cuts.map((cut) => readFile(sourceOf(cut), 'utf8')))
    expect(cuts.map((cut, index) => cutOut(texts[index] ?? '', cut) !== texts[index])).not.toContain(false)
  })
})

test('a guard that is not there, or twice, is refused', () => {
  const cut = { file: 'a.ts', guard: 'if (held)', without: '' }
  expect(() => cutOut('', cut)).toThrow('not once')
  expect(() => cutOut('if (held) if (held)', cut)).toThrow('more than once')
})
