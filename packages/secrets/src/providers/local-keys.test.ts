import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { KeyConfigurationError } from '../errors.ts'
import { countedKey } from '../testing/test-keys.ts'
import { describeProvider } from '../testing/provider-contract.ts'
import { generateKey, parseKeys } from './local-keys.ts'
import { localProvider } from './local.ts'

const base64 = (bytes: Buffer) => bytes.toString('base64')
const labels = (text: string) => parseKeys(text, 'KEYS').map(({ label }) => label)

describeProvider(async () => {
  const [one, two] = [generateKey(), generateKey()]
  return {
    current: localProvider(parseKeys(`${one},${two}`, 'KEYS')),
    swapped: localProvider(parseKeys(`${two},${one}`, 'KEYS')),
  }
})

describe('keys as text', () => {
  test('a generated key reads back under its own label, with or without it', () => {
    const key = generateKey()
    const [label, bytes] = key.split(':') as [string, string]
    expect(labels(key)).toEqual([label])
    expect(labels(bytes)).toEqual([label])
    expect(label).toMatch(/^[0-9a-f]{16}$/)
  })

  test('are separated by commas, spaces or lines, and may be commented', () => {
    const keys = [generateKey(), generateKey(), generateKey()]
    const text = `# mine\n${keys[0]} # current\n\n${keys[1]},  ${keys[2]}\n`
    expect(labels(text)).toEqual(keys.map((key) => key.split(':')[0]))
  })

  test('a thousand generated keys all pass and all differ', () => {
    expect(new Set(Array.from({ length: 1000 }, () => labels(generateKey())[0])).size).toBe(1000)
  })
})

const good = base64(randomBytes(32))
const REFUSED: Record<string, string> = {
  nothing: ' \n# only a comment',
  'too short': base64(randomBytes(31)),
  'too long': base64(randomBytes(33)),
  'a passphrase': base64(Buffer.from('correct horse battery staple 123')),
  zeros: base64(Buffer.alloc(32)),
  'one byte repeated': base64(Buffer.alloc(32, 0xa7)),
  'a counted key': base64(countedKey(1).export()),
  'two bytes alternating': base64(Buffer.from('a5'.concat('5a').repeat(16), 'hex')),
  hexadecimal: randomBytes(32).toString('hex'),
  'base64 with a stray character': `${good.slice(0, 10)}*${good.slice(11)}`,
  'one key twice': `${good},${good}`,
  'a wrong label': `0123456789abcdef:${good}`,
  'a label that is a secret': `hunter2:${good}`,
}

describe('a key is refused, without being quoted, when it is', () => {
  test.each(Object.entries(REFUSED))('%s', (_, text) => {
    let error: unknown
    try {
      parseKeys(text, 'KEYS')
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(KeyConfigurationError)
    expect(String(error)).toContain('KEYS')
    for (const part of text.split(/[,:\s]+/).filter((each) => each.length > 8 && !/^[0-9a-f]{16}$/.test(each)))
      expect(String(error)).not.toContain(part)
    expect(String(error)).not.toContain('hunter2')
  })
})

test('what was wrapped on the first day still unwraps', async () => {
  const key = 'xPqmZ0xYcV0Jw7rT1s9nVQm2b8yKfH3eL5uG6dRkAio='
  const provider = localProvider(parseKeys(key, 'KEYS'))
  expect(provider.id).toBe('local:d07a379f8051c660')
  const wrapped = Buffer.from(
    '01a2cfe9abfa0bf708f741c8e004d2ea4d40714070dd7f2e0e78634df12dbe7aeb4294b174d9576b207e368b6b6b73816316b9d90d9a246557016222a75af5833635969923abda52517f6c68fc28562709a0b7bb6510bfab4a1509d411121960322fa74c23a7118c344ec6abad18e7025f661829bcf6812d31c6fa5d0d',
    'hex',
  )
  expect((await provider.unwrap(provider.id, wrapped, Buffer.from('place'))).toString()).toBe(
    'thirty-two bytes of account key.',
  )
})
