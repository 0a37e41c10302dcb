import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claimedNames } from './claimed-names.ts'

const name = fc.stringMatching(/^[A-Za-z0-9._-]{1,39}\/[A-Za-z0-9._-]{1,100}$/)
const before = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 })
const spacing = fc.constantFrom(undefined, 1, '\t')
const formOf = (json: string) => new URLSearchParams({ payload: json }).toString()

/** Every way one name gets into a body: JSON of any spacing, bare or in a form. */
const bodies = (payload: object, space: string | number | undefined): [Buffer, boolean][] => {
  const json = JSON.stringify(payload, null, space)
  return [
    [Buffer.from(json), false],
    [Buffer.from(json.replaceAll('/', String.raw`\/`)), false],
    [Buffer.from(formOf(json)), true],
  ]
}

describe('the name that a body turns out to be from is among the claimed ones', () => {
  test('a repository and an organisation of GitHub', () => {
    fc.assert(
      fc.property(name, name, before, spacing, (full_name, login, more, space) => {
        const owner = { login: 'somebody', id: 7 }
        const payload = { ...more, repository: { id: 1, owner, full_name }, organization: { id: 2, login } }
        for (const [body, isForm] of bodies(payload, space)) {
          expect(claimedNames('github', body, isForm)).toEqual(expect.arrayContaining([full_name, login]))
        }
      }),
    )
  })

  test('an app of Slack, also of a slash command', () => {
    fc.assert(
      fc.property(name, before, spacing, (api_app_id, more, space) => {
        for (const [body, isForm] of bodies({ ...more, api_app_id }, space)) {
          expect(claimedNames('slack', body, isForm)).toContain(api_app_id)
        }
        const command = new URLSearchParams({ command: '/go', api_app_id, text: 'now' }).toString()
        expect(claimedNames('slack', Buffer.from(command), true)).toContain(api_app_id)
      }),
    )
  })
})

test('what a text says is no claim, and hides none', () => {
  const text = '"full_name": "a/b", api_app_id and organizations_url '.repeat(100)
  const payload = { text, api_app_id: 'A1', repository: { full_name: 'c/d' }, organization: { login: 'e' } }
  for (const [body, isForm] of bodies(payload, undefined)) {
    expect(claimedNames('github', body, isForm)).toEqual(['c/d', 'e'])
    expect(claimedNames('slack', body, isForm)).toEqual(['A1'])
  }
  const command = new URLSearchParams({ text, api_app_id: 'A1' }).toString()
  expect(claimedNames('slack', Buffer.from(command), true)).toEqual(['A1'])
})

test('however much a body claims, little is looked at', () => {
  const names = Array.from({ length: 10_000 }, (_, index) => ({ full_name: `a/${index}` }))
  expect(claimedNames('github', Buffer.from(JSON.stringify(names)), false).length).toBeLessThanOrEqual(8)
})

test('a name that JSON cannot spell is no name, and no failure', () => {
  expect(claimedNames('github', Buffer.from(String.raw`{"full_name":"\q"}`), false)).toEqual([''])
})
