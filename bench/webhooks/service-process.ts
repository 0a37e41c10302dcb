import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from '@keelson/database'
import { accountKeyStore, identityStore } from '@keelson/identity'
import { migrateQueue, connectQueue } from '@keelson/queue'
import { accountKeys as openKeys, generateKey, keyProvider } from '@keelson/secrets'
import { ApiError, createLogger, createMetrics, createService, listen, type Principal } from '@keelson/service-kit'
import { createWebhookTrigger } from '@keelson/agent-api/agent-api-keys/webhook-trigger'
import { agentNetwork } from '@keelson/agent-api/agents/agent-network'
import { registerAgent } from '@keelson/agent-api/agents/register-agent'
import { answerBody } from '@keelson/agent-api/forward/answer'
import { callAgent } from '@keelson/agent-api/forward/call-agent'
import { deadline } from '@keelson/agent-api/forward/deadline'
import { agentUrl } from '@keelson/agent-api/forward/forward-path'
import { FORWARD_LIMITS, forwardRequest } from '@keelson/agent-api/forward/forward-request'
import { answeredHeaders, passedHeaders, receivedHeaders } from '@keelson/agent-api/forward/forwarded-headers'
import { createKeyring } from '@keelson/agent-api/forward/keyring'
import { forwardRoutes } from '@keelson/agent-api/forward/routes'
import { readBody } from '@keelson/service-kit'

// agent-api's ingress and beside it, on `/unverified/*`, the same proxy that verifies nothing and, on `/plain/*`, one that
// does not sign either. `agent` instead of a database URL makes this the agent behind both.

const [databaseUrl = 'agent', agentAt = ''] = process.argv.slice(2)
const tell = (told: object) => process.send?.(told)

const serveAgent = async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{"ok":true}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  tell({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

/** An agent of many repositories is as fast as one of a single one. */
const OTHER_KEYS = 20

const authenticate = (): Promise<Principal> => Promise.reject(new ApiError('unauthenticated'))

const serveIngress = async () => {
  await migrateQueue(databaseUrl)
  const db = connect({ url: databaseUrl, applicationName: 'bench' })
  const log = createLogger({ service: 'bench', level: 'fatal' })
  const provider = await keyProvider({ provider: 'environment', keys: generateKey() })
  const accountKeys = openKeys(provider, accountKeyStore(db), { cacheSize: 1000, ttlMs: 600_000 })
  const network = agentNetwork({ allowPrivate: true })
  const keyring = createKeyring({ db, accountKeys, log })
  const identities = identityStore(db, Buffer.alloc(32, 1))
  const queue = await connectQueue({ databaseUrl })
  const service = createService({
    name: 'agent-api',
    document: async () => ({}),
    log,
    metrics: createMetrics(),
    authenticate,
    readiness: {},
  })
  forwardRoutes(service, { db, keyring, log, network, queue })
  service.raw('post', '/unverified/*', async (c) => {
    const body = await readBody(c.req.raw, c.env, 26_214_400)
    const [key] = (await keyring.find('bench')).every('github')
    return forwardRequest({ network, limits: FORWARD_LIMITS, log }, c, { key: key!, path: 'hooks', query: '', body })
  })
  service.raw('post', '/plain/*', async (c) => {
    const body = await readBody(c.req.raw, c.env, 26_214_400)
    const { signal, clear } = deadline(FORWARD_LIMITS.totalMs, c.req.raw, c.env)
    const url = agentUrl(agentAt, 'hooks', c.env.query)
    const headers = passedHeaders(receivedHeaders(c), 'github')
    const answer = await callAgent(network, { url, method: 'POST', headers, body, signal })
    return {
      status: answer.statusCode,
      headers: answeredHeaders(answer.headers, 'github'),
      body: await answerBody(answer, FORWARD_LIMITS, { onEnd: clear, cut: null }),
    }
  })
  const { account_id } = await identities.createAccount('bench')
  const principal = { account_id, key_id: 'bench', identity_id: 'bench', identity_type: 'user' } as const
  const by = { principal, requestId: 'bench' }
  const registration = { name: 'bench', description: '', acp_url: agentAt, acp_type: 'async' as const }
  await registerAgent({ db, accountKeys, identities, network, keyring }, { registration, ...by })
  const trigger = async (name: string, forward_path: string, delivery: 'sync' | 'durable') => {
    const trigger = { agent_name: 'bench', name, forward_path, source: 'github', delivery } as const
    const made = await createWebhookTrigger({ db, accountKeys, keyring, publicUrl: null }, { trigger, ...by })
    return made.secret
  }
  const secret = await trigger('octocat/hello-world', 'hooks', 'sync')
  const durableSecret = await trigger('octocat/durable', 'durable', 'durable')
  for (let index = 0; index < OTHER_KEYS; index += 1) await trigger(`octocat/other-${index}`, 'hooks', 'sync')
  const { url } = await listen(service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 100 })
  tell({ url, secret, durableSecret })
}

await (databaseUrl === 'agent' ? serveAgent() : serveIngress())
process.on('disconnect', () => process.exit())
