import { z } from '@hono/zod-openapi'
import { listOf, listQuery } from '../pagination.ts'
import { route } from '../route.ts'
import { Id, Name, Text } from '../text.ts'
import {
  CreateCredentialRequest,
  Credential,
  CredentialDeleteResponse,
  CredentialSecret,
  UpdateCredentialRequest,
} from './credential.ts'

export const CredentialList = listOf('CredentialList', Credential)

const tag = 'credentials'
const byId = z.object({ credential_id: Id.openapi({ example: 'cred_01kaf8zq4te3vbr6k2v9d8m5wn' }) })
const byName = z.object({
  credential_name: Name.openapi({ description: 'The name, percent-encoded once', example: 'hugging-face' }),
})

const SECRET = 'Every call leaves an audit record, granted or not; without the record there is no secret.'

export const credentials = {
  createCredential: route('createCredential', 'post', '/v5/credentials', {
    tag,
    summary: 'Create a credential',
    scope: 'credentials:write',
    body: CreateCredentialRequest,
    ok: Credential,
    entityTag: true,
    errors: ['credential_exists'],
  }),
  listCredentials: route('listCredentials', 'get', '/v5/credentials', {
    tag,
    summary: 'List credentials',
    scope: 'credentials:read',
    query: listQuery(['created_at', 'name', 'updated_at'], {
      name: Text.optional().openapi({ description: 'Only the credential of exactly this name' }),
    }),
    ok: CredentialList,
  }),
  getCredential: route('getCredential', 'get', '/v5/credentials/{credential_id}', {
    tag,
    summary: 'Get a credential by id',
    scope: 'credentials:read',
    params: byId,
    ok: Credential,
    entityTag: true,
  }),
  getCredentialByName: route('getCredentialByName', 'get', '/v5/credentials/name/{credential_name}', {
    tag,
    summary: 'Get a credential by name',
    scope: 'credentials:read',
    params: byName,
    ok: Credential,
    entityTag: true,
  }),
  getCredentialSecret: route('getCredentialSecret', 'post', '/v5/credentials/{credential_id}/secret', {
    tag,
    summary: 'Reveal the secret of a credential by id',
    description: SECRET,
    scope: 'credentials:reveal',
    params: byId,
    ok: CredentialSecret,
    okDescription: 'The secret; `Cache-Control: no-store`',
    errors: ['credential_integrity_error'],
  }),
  getCredentialSecretByName: route(
    'getCredentialSecretByName',
    'post',
    '/v5/credentials/name/{credential_name}/secret',
    {
      tag,
      summary: 'Reveal the secret of a credential by name',
      description: SECRET,
      scope: 'credentials:reveal',
      params: byName,
      ok: CredentialSecret,
      okDescription: 'The secret; `Cache-Control: no-store`',
      errors: ['credential_integrity_error'],
    },
  ),
  updateCredential: route('updateCredential', 'patch', '/v5/credentials/{credential_id}', {
    tag,
    summary: 'Update a credential',
    description: 'What is left out stays. A new payload is sealed as a new version.',
    scope: 'credentials:write',
    params: byId,
    body: UpdateCredentialRequest,
    ok: Credential,
    entityTag: true,
    errors: ['credential_exists', 'credential_integrity_error'],
  }),
  deleteCredential: route('deleteCredential', 'delete', '/v5/credentials/{credential_id}', {
    tag,
    summary: 'Delete a credential and every version of its payload',
    scope: 'credentials:delete',
    params: byId,
    ok: CredentialDeleteResponse,
    entityTag: true,
  }),
}
