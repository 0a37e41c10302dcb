import { join, resolve } from 'node:path'
import { caller, say, Unexpected } from './demo-client.ts'
import { demoModel } from './demo-model.ts'
import { demoTrace } from './demo-trace.ts'
import { readLocalJson } from './local-json.ts'

// `npm run demo`: the main job, played over HTTP against the running stack.
const directory = resolve(process.env['KEELSON_DIRECTORY'] || join(import.meta.dirname, '../../../.keelson'))

try {
  const local = await readLocalJson(directory)
  if (local === null)
    throw new Unexpected(`${join(directory, 'local.json')} does not exist: run npm start first, in another terminal`)
  await demoModel(caller(local.platform_url, { 'x-api-key': local.api_key }))
  await demoTrace(caller(local.agent_url, { authorization: `Bearer ${local.api_key}` }))
  say('The demo went as expected')
} catch (error) {
  if (!(error instanceof Unexpected)) throw error
  process.stderr.write(`The demo failed: ${error.message}\n`)
  process.exitCode = 1
}
