import { randomBytes } from 'node:crypto'
import { closeBox, openBox } from '../derived-box.ts'
import { IntegrityError } from '../errors.ts'
import { providerOf, type ConfiguredKeyProvider } from '../key-provider.ts'
import { lengthPrefixed } from '../length-prefixed.ts'
import type { LocalKey } from './local-keys.ts'

const FORMAT = Buffer.of(1)

/**
 * Wraps with keys this process holds: `format 1 | box`. Each wrap derives its own key, so no number of wraps wears a key
 * out. Ids are `local:label` wherever the key is kept: it can move from a file to the environment and back.
 */
export const localProvider = (keys: readonly LocalKey[]): ConfiguredKeyProvider => {
  const context = (aad: Buffer) => lengthPrefixed(Buffer.from('key-wrap'), FORMAT, aad)
  const keyOf = (label: string) => keys.find((key) => key.label === label)!.key
  return providerOf(
    'local',
    keys.map(({ label }) => label),
    {
      encrypt: async (label, plain, aad) =>
        Buffer.concat([FORMAT, closeBox(keyOf(label), context(aad), plain, randomBytes)]),
      decrypt: async (label, wrapped, aad) => {
        if (wrapped[0] !== FORMAT[0]) throw new IntegrityError('wrapped_key', `unknown format under local:${label}`)
        return openBox(keyOf(label), context(aad), wrapped.subarray(1))
      },
    },
  )
}
