import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { Webhook } from 'standardwebhooks'

const { KEELSON_URL = 'http://127.0.0.1:8081', KEELSON_API_KEY = '', PORT = '8000' } = process.env

const registered = await fetch(`${KEELSON_URL}/agents/register`, {
  method: 'POST',
  headers: { authorization: `Bearer ${KEELSON_API_KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify({
    name: 'triage',
    description: 'Tells what happened',
    acp_url: `http://127.0.0.1:${PORT}`,
    acp_type: 'async',
  }),
})
if (!registered.ok) throw new Error(await registered.text())
const { signing_secret } = (await registered.json()) as { signing_secret: string }
const keelson = new Webhook(signing_secret)

const app = new Hono()
app.post('/hooks/:source', async (c) => {
  // Throws, and so answers 500, unless Keelson sent this within the last five minutes.
  const event = keelson.verify(await c.req.text(), c.req.header()) as Record<string, unknown>
  process.stdout.write(`${c.req.param('source')} ${JSON.stringify(event)}\n`)
  return c.json({ ok: true })
})

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) }, () => process.stdout.write('listening\n'))
