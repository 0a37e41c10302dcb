import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CONTROLS, type Cut } from './controls.ts'
import { cutOut } from './cuts.ts'
import { ROOT } from './stack/bundles.ts'

const sourceOf = ({ file }: Cut): string => join(ROOT, file)

const WITH_CUTS = Object.entries(CONTROLS).filter(([, { unpatched }]) => unpatched === undefined)

describe.each(WITH_CUTS)('the control %s', (_, { cuts }) => {
  test('cuts a guard out that is there, once', async () => {
    const texts = await Promise.all(cuts.map((cut) => readFile(sourceOf(cut), 'utf8')))
    expect(cuts.length).toBeGreaterThan(0)
    for (const [index, cut] of cuts.entries()) expect(cutOut(texts[index] ?? '', cut)).not.toBe(texts[index])
  })
})

test('a guard that is not there, or twice, is refused', () => {
  const cut = { file: 'a.ts', guard: 'if (held)', without: '' }
  expect(() => cutOut('', cut)).toThrow('not once')
  expect(() => cutOut('if (held) if (held)', cut)).toThrow('more than once')
})
