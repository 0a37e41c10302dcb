import { ApiError } from '@keelson/service-kit'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  agentUrl,
  boundSegments,
  encodePath,
  encodeSegments,
  FORWARD_PREFIX,
  opens,
  readTarget,
} from './forward-path.ts'

const BASE = 'http://agent.test:8000/base/of/agent'

const refusal = (path: string): string | null => {
  try {
    readTarget(FORWARD_PREFIX + path)
    return null
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error)
  }
}

const urlOf = (path: string): string => {
  const { segments } = readTarget(FORWARD_PREFIX + path)
  return agentUrl(BASE, encodeSegments(segments), '').href
}

describe('paths that could mean something else to another hop are refused', () => {
  test.each([
    'a/..',
    'a/../api',
    'a/%2e%2e/api',
    'a/.%2E/api',
    'a/./b',
    'a/..%2fapi',
    'a/%2F',
    'a//evil.com/x',
    'a///x',
    'a/%5c..%5capi',
    'a/\\evil',
    'a/%00',
    'a/x%0d%0aHost:evil',
    'a/x%0a',
    'a/b;c',
    'a/%3b',
    'a/%252e%252e/x',
    'a/%zz',
    'a/%ff',
    'a/%c0%ae',
    'a/%ed%a0%80',
    'a/\u00fc',
    '',
    '/x',
    '%2e%2e/x',
    `a/${'x'.repeat(256)}`,
    `a/${'x/'.repeat(40)}`,
  ])('%j', (path) => expect(refusal(path)).toBe('malformed_request'))
})

describe('plain paths arrive encoded as a trigger encodes them', () => {
  test.each([
    ['a', BASE],
    ['a/', BASE],
    ['a/hooks/github', `${BASE}/hooks/github`],
    ['a/hooks/', `${BASE}/hooks/`],
    ['a/cfg-9%3Fmode%3Dreview%23frag%20ment', `${BASE}/cfg-9%3Fmode%3Dreview%23frag%20ment`],
    ['a/gr%C3%BC%C3%9Fe', `${BASE}/gr%C3%BC%C3%9Fe`],
    ["a/it's(*)!", `${BASE}/it%27s%28%2A%29%21`],
    ['a/100%25', `${BASE}/100%25`],
    ['a/http:', `${BASE}/http%3A`],
    ['a/@evil.com', `${BASE}/%40evil.com`],
    ['a/...', `${BASE}/...`],
  ])('%j', (path, url) => expect(urlOf(path)).toBe(url))
})

const NASTY =
  '. .. %2e %2E %2f / \\ %5c %00 %0d%0a ; %3b ? # %25 @ : // http: https://evil.com %c0%ae %u002e \u00ad \uff0e \u2025 %ef%bc%8e a % & \t'
const nasty = fc.constantFrom(...NASTY.split(' '), ' ')
const path = fc.array(fc.oneof({ weight: 4, arbitrary: nasty }, fc.string({ unit: 'binary', maxLength: 4 })), {
  maxLength: 12,
})

test('no path of a hundred thousand leaves the base path of its agent, whoever decodes it once more', () => {
  let forwarded = 0
  const refused = new Set<string | null>()
  const stays = (parts: readonly string[]): void => {
    const written = `a/${parts.join('')}`
    const code = refusal(written)
    refused.add(code)
    if (code !== null) return
    forwarded += 1
    const url = new URL(urlOf(written))
    expect(url.origin).toBe('http://agent.test:8000')
    expect(url.pathname === '/base/of/agent' || url.pathname.startsWith('/base/of/agent/')).toBe(true)
    const again = new URL(decodeURIComponent(url.pathname).replaceAll(/[?#]/g, '_'), 'http://agent.test:8000')
    expect(again.pathname.startsWith('/base/of/agent')).toBe(true)
    expect(again.origin).toBe('http://agent.test:8000')
  }
  fc.assert(fc.property(path, stays), { numRuns: 100_000 })
  expect(refused).toEqual(new Set([null, 'malformed_request']))
  expect(forwarded).toBeGreaterThan(1000)
}, 120_000)

test('what a trigger encodes is read back as it was', () => {
  const plain = fc.stringMatching(/^[a-zA-Z0-9 ?#=&+@:~!'()*ü€👋._-]{1,20}$/u).filter((text) => !/^\.\.?$/.test(text))
  fc.assert(
    fc.property(fc.array(plain, { minLength: 1, maxLength: 5 }), (segments) => {
      const written = encodePath(segments.join('/'))
      expect(readTarget(`${FORWARD_PREFIX}a/${written}`).segments).toEqual(segments)
    }),
    { numRuns: 2000 },
  )
})

test('a key opens its own path and what lies below', () => {
  const bound = boundSegments('hooks/github')
  const answers = ['hooks/github', 'hooks/github/x', 'hooks/github/', 'hooks', 'hooks/githubx', 'api', ''].map((text) =>
    opens(bound, text.split('/')),
  )
  expect(answers).toEqual([true, true, true, false, false, false, false])
  expect(opens(boundSegments(null), ['anything'])).toBe(true)
})
