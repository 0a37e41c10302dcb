import { eventually } from '@keelson/testing'
import { expect, test } from 'vitest'
import { runningServices } from './running-services.ts'

const WITHIN = { deadlineMs: 1_000, intervalMs: 5 }

test('a revoked key stops working on every process of both services within a second, however warm it is', async () => {
  await using services = await runningServices(['platform-api', 'agent-api'])
  const { identities, url, addReplica } = services
  const { account_id } = await identities.createAccount('revoked')
  const { id: identity_id } = await identities.createIdentity({ account_id, type: 'user', name: 'ada' })
  const { id, token } = await identities.issueKey({ account_id, identity_id })
  const status = async (at: string, headers: Record<string, string>) => (await fetch(at, { headers })).status
  const platform = [url['platform-api'], await addReplica('platform-api')].map(
    (at) => () => status(`${at}/v5/credentials`, { 'x-api-key': token }),
  )
  const agent = [url['agent-api'], await addReplica('agent-api')].map(
    (at) => () => status(`${at}/spans`, { authorization: `Bearer ${token}` }),
  )
  const processes = [...platform, ...agent]
  for (const ask of [...processes, ...processes]) expect(await ask()).toBe(200)
  await identities.revokeKey({ account_id, id })
  await Promise.all(processes.map((ask) => eventually(async () => expect(await ask()).toBe(401), WITHIN)))
})
