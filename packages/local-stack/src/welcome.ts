import { join } from 'node:path'
import type { LocalJson } from './local-json.ts'
import type { StackOptions } from './options.ts'

const JSON_BODY = `-H 'content-type: application/json' -d`

/** The one block that `npm start` prints when everything is ready: URLs, and commands to paste. */
export const welcome = (local: LocalJson, { root, directory }: StackOptions, seconds: number) => {
  const { platform_url, agent_url, simulator_url, api_key } = local
  // A new name at every start: the models of earlier ones are still there.
  const id = Date.now().toString(36)
  const model = `{"name": "model-${id}", "vendor_configuration": {"model": "llama-3-8b-instruct"}}`
  const span = `{"trace_id": "trace-${id}", "name": "first span", "start_time": "${new Date().toISOString()}"}`
  const demo = directory === join(root, '.keelson') ? 'npm run demo' : `KEELSON_DIRECTORY='${directory}' npm run demo`
  return `
Keelson is ready (${seconds.toFixed(1)} s)

  platform-api       ${platform_url}   ${platform_url}/docs
  agent-api          ${agent_url}   ${agent_url}/docs
  vendor-simulator   ${simulator_url}
  URLs and API key   ${join(directory, 'local.json')}

Create a model, then read it until it is ready:
  curl -sw '\\n' ${platform_url}/v5/models -H 'x-api-key: ${api_key}' ${JSON_BODY} '${model}'
  curl -sw '\\n' '${platform_url}/v5/models?name=model-${id}' -H 'x-api-key: ${api_key}'

Record a span and read it back:
  curl -sw '\\n' ${agent_url}/spans -H 'authorization: Bearer ${api_key}' ${JSON_BODY} '${span}'
  curl -sw '\\n' '${agent_url}/spans?trace_id=trace-${id}' -H 'authorization: Bearer ${api_key}'

The same and more, played for you: ${demo}
Stop: Ctrl-C

`
}
