import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from './run-start.ts'

/** Starts the agent that the README shows; `lines` is what it has printed. */
export const startExampleAgent = (KEELSON_URL: string, KEELSON_API_KEY: string, PORT: string) => {
  const env = { ...process.env, KEELSON_URL, KEELSON_API_KEY, PORT }
  const agent = spawn(process.execPath, [join(ROOT, 'infra/e2e/example-agent.ts')], { env })
  const lines: string[] = []
  createInterface(agent.stdout).on('line', (line) => lines.push(line))
  return { lines, [Symbol.dispose]: () => void agent.kill() }
}
