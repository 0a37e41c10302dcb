import { describe, expect, test } from 'vitest'
import { refusal } from '../refusal.ts'
import { CreateCredentialRequest, UpdateCredentialRequest } from './credential.ts'
import { credentials } from './credentials.ts'
import { models } from './models.ts'

describe('a credential', () => {
  const credential = { name: 'hugging-face', payload: 'secret', type: 'key' }

  test.each<[object, string | null]>([
    [{ credential_metadata: null, description: null }, null],
    [{ unknown: 1 }, null],
    [{ name: '' }, 'name'],
    [{ name: 'a/b c%é' }, null],
    [{ payload: '' }, 'payload'],
    [{ payload: 'é'.repeat(32_768) }, null],
    [{ payload: 'é'.repeat(32_769) }, 'payload'],
    [{ payload: '-----BEGIN KEY-----\n' }, null],
    [{ type: 'x' }, 'type'],
    [{ type: 'json' }, 'payload'],
    [{ type: 'json', payload: ' {"a":1} ' }, null],
    [{ credential_metadata: [] }, 'credential_metadata'],
  ])('%# is refused at the right place', (fields, path) => {
    expect(refusal(CreateCredentialRequest, { ...credential, ...fields })).toBe(path)
  })

  test('is updated by what is given; null is not given', () => {
    expect(UpdateCredentialRequest.parse({ name: null, payload: null, type: null, description: '' })).toEqual({
      description: '',
    })
    expect(refusal(UpdateCredentialRequest, { type: 'json', payload: 'no' })).toBe('payload')
    expect(refusal(UpdateCredentialRequest, { type: 'json' })).toBeNull()
  })
})

describe('a list', () => {
  const query = credentials.listCredentials.schemas.query

  test('is the first hundred, newest first, unless it says otherwise', () => {
    expect(query.parse({})).toEqual({ limit: 100, sort_by: 'created_at', sort_order: 'desc' })
  })

  test.each<[Parameters<typeof refusal>[0], object, string | null]>([
    [query, { limit: '10000' }, null],
    [query, { limit: '10001' }, 'limit'],
    [query, { sort_by: 'updated_at' }, null],
    [query, { sort_by: 'payload' }, 'sort_by'],
    [query, { sort_order: 'up' }, 'sort_order'],
    [query, { starting_after: 'a', ending_before: 'b' }, 'ending_before'],
    [models.listModels.schemas.query, { sort_by: 'status', model_vendor: 'xai' }, null],
    [models.listModels.schemas.query, { sort_by: 'updated_at' }, 'sort_by'],
    [models.listModels.schemas.query, { model_vendor: 'nobody' }, 'model_vendor'],
    [models.getModel.schemas.query, { wait: '60' }, null],
    [models.getModel.schemas.query, { wait: '61' }, 'wait'],
  ])('%#: %j is refused at %j', (schema, values, path) => {
    expect(refusal(schema, values)).toBe(path)
  })
})
