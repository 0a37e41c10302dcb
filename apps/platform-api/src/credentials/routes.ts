import { credentials } from '@keelson/contracts/platform'
import { credentialReveals } from '@keelson/identity'
import { entityTag, type Call, type Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { createCredential } from './create-credential.ts'
import { presentCredential, type CredentialRow } from './credential-row.ts'
import { deleteCredential } from './delete-credential.ts'
import { credentialInserts } from './insert-credentials.ts'
import { revealCredential } from './reveal-credential.ts'
import { credentialStore } from './store.ts'
import { updateCredential } from './update-credential.ts'

/** The credential in an answer, with its entity tag. */
const answerWith = ({ respond }: Pick<Call, 'respond'>, row: CredentialRow) => {
  respond.header('etag', entityTag(row.revision))
  return presentCredential(row)
}

const secretRoutes = (service: Service, deps: Pick<Deps, 'db' | 'accountKeys'>) => {
  const reveals = credentialReveals(deps)

  service.handle(
    credentials.getCredentialSecret,
    async ({ params, principal, requestId }) => {
      const key = { id: params.credential_id }
      const result = await revealCredential(reveals, { key, principal, requestId })
      return { result, object: 'credential_secret' as const }
    },
    {
      secretAnswer: true,
      onRefused: ({ params, ...refused }) =>
        reveals.refuse({ ...refused, key: params && { id: params.credential_id } }),
    },
  )

  service.handle(
    credentials.getCredentialSecretByName,
    async ({ params, principal, requestId }) => {
      const key = { name: params.credential_name }
      const result = await revealCredential(reveals, { key, principal, requestId })
      return { result, object: 'credential_secret' as const }
    },
    {
      secretAnswer: true,
      onRefused: ({ params, ...refused }) =>
        reveals.refuse({ ...refused, key: params && { name: params.credential_name } }),
    },
  )
}

export const credentialRoutes = (service: Service, deps: Pick<Deps, 'db' | 'accountKeys'>) => {
  const { db, accountKeys } = deps
  const insert = credentialInserts(db)
  secretRoutes(service, deps)

  service.handle(credentials.createCredential, async (call) =>
    answerWith(call, await createCredential({ accountKeys, insert }, call)),
  )

  service.handle(credentials.listCredentials, async ({ query, principal }) => {
    const page = await credentialStore(db, principal.account_id).list(query)
    return { ...page, items: page.items.map(presentCredential) }
  })

  service.handle(credentials.getCredential, async (call) =>
    answerWith(call, await credentialStore(db, call.principal.account_id).get(call.params.credential_id)),
  )

  service.handle(credentials.getCredentialByName, async (call) =>
    answerWith(call, await credentialStore(db, call.principal.account_id).getByName(call.params.credential_name)),
  )

  service.handle(credentials.updateCredential, async (call) => answerWith(call, await updateCredential(deps, call)))

  service.handle(credentials.deleteCredential, async ({ params, principal, requestId, ifMatch }) => {
    const { credential_id } = params
    await deleteCredential(db, { credential_id, principal, requestId, ifMatch })
    return { id: credential_id, deleted: true, object: 'credential' as const }
  })
}
