import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Database } from '@keelson/database'
import { secretProblem } from '@keelson/identity'
import { IntegrityError, type AccountKeys } from '@keelson/secrets'
import type { Logger } from '@keelson/service-kit'
import { LRUCache } from 'lru-cache'
import { openSecret } from '../agent-api-keys/sealed-secret.ts'
import { openSigningSecret } from '../agents/signing-secret.ts'
import { boundSegments } from './forward-path.ts'
import { indexKeys, type KeyIndex } from './key-index.ts'

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
  secret: KeyObject
  /** What calls to the agent are signed with. */
  signingSecret: KeyObject
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
  find: (agent_name: string) => Promise<KeyIndex>
  /** Looks the agent up anew next time: something about it or its keys was changed here. */
  forget: (agent_name: string) => void
}

/** What was looked up, and when to look again while it still counts, so that no webhook waits for that. */
type Found = { keys: Promise<KeyIndex>; refreshAt: number }

export type KeyringOptions = { db: Pick<Database, 'sql'>; accountKeys: AccountKeys; log: Logger; maxAgeMs?: number }

/** As many as a process has in use; of the others none is kept in the open for long, and to open one is soon done. */
const MAX_OPENED = 5000

/** Opens rows; an opened secret is kept, since a version of a secret never changes. */
const keyOpener = ({ accountKeys, log }: Pick<KeyringOptions, 'accountKeys' | 'log'>) => {
  const opened = new LRUCache<string, KeyObject>({ max: MAX_OPENED })

  const openOnce = async (place: string, unseal: () => Promise<Buffer>): Promise<KeyObject> => {
    const known = opened.get(place)
    if (known) return known
    const secret = createSecretKey(await unseal())
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
  return async (row: Row): Promise<WebhookKey[]> => {
    try {
      return [await openKey(row)]
    } catch (error) {
      if (!(error instanceof IntegrityError)) throw secretProblem(error)
      log.error({ key_id: row.key_id, account_id: row.account_id, err: error }, 'a webhook secret is damaged')
      return []
    }
  }
}

/**
 * The keys of agents as they are looked up by webhooks. What another replica changed is noticed within `maxAgeMs` (500);
 * opened secrets are kept longer, since a version of a secret never changes.
 */
export const createKeyring = ({ db, accountKeys, log, maxAgeMs = 500 }: KeyringOptions): Keyring => {
  const openIntact = keyOpener({ accountKeys, log })
  const found = new LRUCache<string, Found>({ max: 10_000, ttl: maxAgeMs })

  const load = async (agent_name: string): Promise<KeyIndex> => {
    const rows = await db.sql<Row[]>`select * from agent.find_webhook_keys(${agent_name})`
    return indexKeys((await Promise.all(rows.map(openIntact))).flat())
  }

  const lookUp = (agent_name: string): Found => {
    const entry = { keys: load(agent_name), refreshAt: performance.now() + maxAgeMs / 2 }
    entry.keys.catch(() => found.get(agent_name) === entry && found.delete(agent_name))
    return entry
  }

  const refresh = async (agent_name: string, known: Found): Promise<void> => {
    known.refreshAt = Infinity
    const fresh = lookUp(agent_name)
    const isThere = await fresh.keys.then(
      () => true,
      () => false,
    )
    // Forgotten or expired meanwhile, it was looked up anew by whoever asked.
    if (isThere && found.peek(agent_name) === known) found.set(agent_name, fresh)
  }

  return {
    find: (agent_name) => {
      const known = found.get(agent_name)
      if (known && performance.now() >= known.refreshAt) void refresh(agent_name, known)
      if (known) return known.keys
      const entry = lookUp(agent_name)
      found.set(agent_name, entry)
      return entry.keys
    },
    forget: (agent_name) => void found.delete(agent_name),
  }
}
