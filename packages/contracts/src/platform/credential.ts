import { z } from '@hono/zod-openapi'
import { FreeFormObject, Metadata } from '../free-form.ts'
import { given } from '../given.ts'
import { Name, textWithin } from '../text.ts'
import { UtcTimestamp } from '../timestamp.ts'
import { IdentityType } from './identity-type.ts'

export const PAYLOAD_LIMIT_BYTES = 65_536

export const CredentialType = z
  .enum(['key', 'json'])
  .openapi('CredentialType', { description: 'What the payload is: any text, or JSON' })

const ID = { example: 'cred_01kaf8zq4te3vbr6k2v9d8m5wn' }

export const Credential = z
  .object({
    id: z.string().openapi(ID),
    created_at: UtcTimestamp,
    created_by_identity_type: IdentityType,
    created_by_user_id: z.string().openapi({ example: 'user_01kaf8zq4te3vbr6k2v9d8m5wn' }),
    credential_metadata: FreeFormObject.openapi({ example: { team: 'search' } }),
    description: z.string().openapi({ example: 'Read access to the model hub' }),
    name: z.string().openapi({ example: 'hugging-face' }),
    type: CredentialType,
    updated_at: UtcTimestamp,
    object: z.literal('credential').optional(),
  })
  .openapi('Credential', { description: 'What is known of a stored secret; never the secret' })

export const CredentialSecret = z
  .object({
    result: z.string().openapi({ format: 'password', description: 'The payload', example: 'hf_example' }),
    object: z.literal('credential_secret').optional(),
  })
  .openapi('CredentialSecret')

export const CredentialDeleteResponse = z
  .object({ id: z.string().openapi(ID), deleted: z.boolean(), object: z.literal('credential').optional() })
  .openapi('CredentialDeleteResponse')

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Whether a payload is what its type says; also to be asked when an update changes only one of the two. */
export const isPayloadOf = (type: z.infer<typeof CredentialType>, payload: string): boolean =>
  type === 'key' || isJson(payload)

/** The one wording for a payload that is not what its type says. */
export const PAYLOAD_NO_JSON = 'must be JSON when the type is json'

const name = Name.openapi({ description: 'Unique in the account', example: 'hugging-face' })
const payload = textWithin(PAYLOAD_LIMIT_BYTES, 1).openapi({
  format: 'password',
  description: 'The secret; stored encrypted, told only by the two secret operations',
  example: 'hf_example',
})
const credential_metadata = given(Metadata).openapi({ description: 'Not encrypted', example: { team: 'search' } })
const description = given(textWithin(16_384)).openapi({
  description: 'Not encrypted',
  example: 'Read access to the model hub',
})

type Payload = { type?: z.infer<typeof CredentialType> | undefined; payload?: string | undefined }

const isConsistent = ({ type, payload }: Payload): boolean =>
  type === undefined || payload === undefined || isPayloadOf(type, payload)

const NO_JSON = { error: PAYLOAD_NO_JSON, path: ['payload'] }

export const CreateCredentialRequest = z
  .object({ name, payload, type: CredentialType, credential_metadata, description })
  .refine(isConsistent, NO_JSON)
  .openapi('CreateCredentialRequest')

export const UpdateCredentialRequest = z
  .object({
    name: given(name),
    payload: given(payload),
    type: given(CredentialType),
    credential_metadata,
    description,
  })
  .refine(isConsistent, NO_JSON)
  .openapi('UpdateCredentialRequest', { description: 'What is left out, or `null`, stays' })

export type Credential = z.infer<typeof Credential>
export type CredentialType = z.infer<typeof CredentialType>
