import type { Database } from '@keelson/database'
import { IntegrityError, type AccountKeys } from '@keelson/secrets'
import type { Logger } from '@keelson/service-kit'
import { LRUCache } from 'lru-cache'
import { answerOfSecrets, openSecret } from '../agent-api-keys/sealed-secret.ts'
import { openSigningSecret } from '../agents/signing-secret.ts'
import { boundSegments } from './forward-path.ts'

/** One secret that may open an agent, and what it opens. */
export type WebhookKey = {
  account_id: string
  agent_id: string
  acp_url: string
  key_id: string
  name: string
  source: 'external' | 'github' | 'slack'
  verification: 'key' | 'standard_webhooks' | null
  delivery: 'sync' | 'durable'
  is_disabled: boolean
  /** The segments of the path that it opens. */
  bound: string[]
  secret: Buffer
  /** What calls to the agent are signed with. */
  signingSecret: Buffer
}

type Row = Omit<WebhookKey, 'bound' | 'secret' | 'signingSecret'> & {
  forward_path: string | null
  version: number
  sealed: Buffer
  signing_version: number
  signing_sealed: Buffer
}

export type Keyring = {
  /** Every secret of every agent of a name, of whichever account. @throws ApiError `unavailable` */
  find: (agent_name: string) => Promise<readonly WebhookKey[]>
  /** Looks the agent up anew next time: something about it or its keys was changed here. */
  forget: (agent_name: string) => void
}

export type KeyringOptions = { db: Pick<Database, 'sql'>; accountKeys: AccountKeys; log: Logger; maxAgeMs?: number }

/**
 * The keys of agents as they are looked up by webhooks. What another replica changed is noticed within `maxAgeMs` (500);
 * opened secrets are kept longer, since a version of a secret never changes.
 */
export const createKeyring = ({ db, accountKeys, log, maxAgeMs = 500 }: KeyringOptions): Keyring => {
  const opened = new LRUCache<string, Buffer>({ max: 20_000 })
  const found = new LRUCache<string, Promise<readonly WebhookKey[]>>({ max: 10_000, ttl: maxAgeMs })

  const openOnce = async (place: string, unseal: () => Promise<Buffer>): Promise<Buffer> => {
    const known = opened.get(place)
    if (known) return known
    const secret = await unseal()
    opened.set(place, secret)
    return secret
  }

  const openKey = async ({ version, sealed, signing_version, signing_sealed, forward_path, ...row }: Row) => {
    const { account_id, agent_id, key_id } = row
    const secret = await openOnce(`key ${key_id} ${version}`, () =>
      openSecret(accountKeys, { account_id, key_id, version }, sealed),
    )
    const place = { account_id, agent_id, version: signing_version, sealed: signing_sealed }
    const signingSecret = await openOnce(`agent ${agent_id} ${signing_sealed.toString('base64', 8, 40)}`, () =>
      openSigningSecret(accountKeys, place),
    )
    return { ...row, bound: boundSegments(forward_path), secret, signingSecret }
  }

  /** A key whose stored bytes were changed verifies nothing, and takes no other key with it. */
  const openIntact = async (row: Row): Promise<WebhookKey[]> => {
    try {
      return [await openKey(row)]
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw answerOfSecrets(error)
      log.error({ key_id: row.key_id, account_id: row.account_id, err: error }, 'a webhook secret is damaged')
      return []
    }
  }

  const load = async (agent_name: string): Promise<readonly WebhookKey[]> => {
    const rows = await db.sql<Row[]>`select * from agent.find_webhook_keys(${agent_name})`
    return (await Promise.all(rows.map(openIntact))).flat()
  }

  return {
    find: (agent_name) => {
      const known = found.get(agent_name)
      if (known) return known
      const loading = load(agent_name)
      found.set(agent_name, loading)
      loading.catch(() => found.get(agent_name) === loading && found.delete(agent_name))
      return loading
    },
    forget: (agent_name) => void found.delete(agent_name),
  }
}
