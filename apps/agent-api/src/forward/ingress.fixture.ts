import { testApp } from '../test-app.fixture.ts'
import { testAgent } from './test-agent.fixture.ts'

/** agent-api before a real agent, and makers of what tests need of both. */
export const testIngress = async (overrides: Parameters<typeof testApp>[0] = {}) => {
  const agent = await testAgent()
  const app = await testApp(overrides)
  let agents = 0

  /** An agent of an account of its own, with a GitHub key, a Slack key and an agent key. */
  const scene = async (agent_name = `agent-${(agents += 1)}`) => {
    const client = await app.client()
    const acp_url = `${agent.url}/base`
    const body = { name: agent_name, description: '', acp_url, acp_type: 'async' as const }
    const { signing_secret } = await client.registerAgent({ body })
    const trigger = (name: string, more: object = {}) =>
      client.createWebhookTrigger({ body: { agent_name, name, forward_path: 'hooks', ...more } })
    const send = (
      path: string,
      headers: Record<string, string>,
      content?: string,
      method = content === undefined ? 'GET' : 'POST',
    ) =>
      app.service.fetch(
        new Request(`http://x/agents/forward/name/${agent_name}/${path}`, {
          method,
          headers,
          ...(content !== undefined && { body: content }),
        }),
      )
    return { client, agent_name, signing_secret, trigger, send }
  }

  const last = () => agent.received.at(-1)!

  /** The answer without what differs in every answer. */
  const shape = async (response: Response) => ({
    status: response.status,
    body: (await response.text()).replace(/"request_id":"[^"]+"/, ''),
    headers: [...response.headers].filter(([name]) => name !== 'x-request-id'),
  })
  const dispose = async () => {
    await app[Symbol.asyncDispose]()
    await agent[Symbol.asyncDispose]()
  }
  return { app, agent, scene, last, shape, [Symbol.asyncDispose]: dispose }
}
