import { setTimeout as delay } from 'node:timers/promises'
import { typeId } from '@keelson/service-kit'
import type { Sql } from '../harness/postgres.ts'

type Owner = { account_id: string; identity_id: string }

const create = async (url: string, token: string, body: string): Promise<string> => {
  const headers = { 'x-api-key': token, 'content-type': 'application/json' }
  for (;;) {
    const response = await fetch(`${url}/v5/credentials`, { method: 'POST', headers, body })
    if (response.ok) return ((await response.json()) as { id: string }).id
    // A service that has just started on a busy machine sheds load.
    if (response.status !== 503) throw new Error(`${response.status} ${await response.text()}`)
    await delay(200)
  }
}

export const createCredentials = ({ url, tokens }: { url: string; tokens: string[] }, bodies: readonly string[]) =>
  Promise.all(bodies.map((body) => create(url, tokens[0]!, body)))

/** Rows as the list reads them, without secrets; resolves with their ids in order. */
export const layOutCredentials = async (sql: Sql, { account_id, identity_id }: Owner, count: number) => {
  const ids = Array.from({ length: count }, () => typeId('cred'))
  for (let from = 0; from < count; from += 10_000) {
    await sql`
      insert into platform.credentials (account_id, id, name, description, type, credential_metadata,
        created_by_identity_type, created_by_user_id)
      select ${account_id}, id, id, '', 'key', '{}', 'user', ${identity_id}
      from unnest(${ids.slice(from, from + 10_000)}::text[]) as id`
  }
  await sql`vacuum analyze platform.credentials`
  return ids.toSorted()
}
