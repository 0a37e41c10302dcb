import { expect, test } from 'vitest'
import { signedHeaders } from './aws-signature.ts'

const SESSION_TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='

type Vector = {
  name: string
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  session_token?: string
  names: string
  signature: string
}

/** The root-path cases of the AWS Signature Version 4 test suite that a JSON service can meet. */
const SUITE: Vector[] = [
  {
    name: 'get-vanilla',
    method: 'GET',
    names: 'host;x-amz-date',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    name: 'post-vanilla',
    method: 'POST',
    names: 'host;x-amz-date',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  {
    name: 'get-header-value-trim',
    method: 'GET',
    headers: { 'My-Header1': ' value1', 'My-Header2': ' "a   b   c"' },
    names: 'host;my-header1;my-header2;x-amz-date',
    signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  },
  {
    name: 'post-header-value-case',
    method: 'POST',
    headers: { 'My-Header1': 'VALUE1' },
    names: 'host;my-header1;x-amz-date',
    signature: 'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
  },
  {
    name: 'post-x-www-form-urlencoded',
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'Param1=value1',
    names: 'content-type;host;x-amz-date',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
  {
    name: 'post-sts-header-before',
    method: 'POST',
    session_token: SESSION_TOKEN,
    names: 'host;x-amz-date;x-amz-security-token',
    signature: '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  },
]

test.each(SUITE)('AWS test suite: $name', ({ method, headers = {}, body = '', session_token, names, signature }) => {
  const sent = signedHeaders(
    { method, host: 'example.amazonaws.com', headers, body },
    { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', session_token },
    { region: 'us-east-1', service: 'service', now: new Date('2015-08-30T12:36:00.789Z') },
  )
  expect(sent.authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
  )
  expect(sent['x-amz-date']).toBe('20150830T123600Z')
  expect(sent['x-amz-security-token']).toBe(session_token)
})
