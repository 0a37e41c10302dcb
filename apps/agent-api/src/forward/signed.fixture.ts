import { createHmac } from 'node:crypto'

/** The HMAC-SHA256 in hexadecimal: GitHub's and Slack's documents both end there. */
const hex = (secret: string, ...parts: (string | Buffer)[]): string => {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest('hex')
}

export const githubHeaders = (secret: string, body: string | Buffer, delivery: string = crypto.randomUUID()) => ({
  'content-type': 'application/json',
  'x-github-event': 'push',
  'x-github-delivery': delivery,
  'x-hub-signature-256': `sha256=${hex(secret, body)}`,
})

/** Signs as "Verifying requests from Slack" says. */
export const slackHeaders = (
  secret: string,
  body: string,
  { type = 'application/json', at = Date.now() / 1000 } = {},
) => {
  const timestamp = String(Math.floor(at))
  return {
    'content-type': type,
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${hex(secret, `v0:${timestamp}:${body}`)}`,
  }
}

export const PUSH = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: 'octocat/hello-world' } })
