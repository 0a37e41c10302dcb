import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { settings as agentApi, webhookWorkerSettings } from './apps/agent-api/src/config.ts'
import { settings as deployer } from './apps/deployer/src/config.ts'
import { settings as operator } from './apps/operator/src/service-users.ts'
import { settings as platformApi } from './apps/platform-api/src/config.ts'
import { describeSettings, type Settings } from './packages/service-kit/src/index.ts'

// Writes the settings of every process into the runbook; with --check it fails where they are not what the code says.
const FILE = join(import.meta.dirname, 'infra', 'RUNBOOK.md')
const BEGIN = '<!-- settings: written by `pnpm settings` -->'
const END = '<!-- /settings -->'

const PROCESSES: Record<string, Settings> = {
  'platform-api': platformApi,
  'agent-api': agentApi,
  'webhook-worker': webhookWorkerSettings,
  deployer,
  'service-users': operator,
}

const cell = (text: string) => text.replaceAll('|', String.raw`\|`)

const table = ([name, settings]: [string, Settings]): string => {
  const rows = describeSettings(settings).map(
    (one) => `| \`${one.name}\` | ${cell(one.expected)} | ${cell(one.default)} | ${cell(one.description)} |`,
  )
  return [`### ${name}`, '', '| setting | is | default | what it is |', '|---|---|---|---|', ...rows].join('\n')
}

const current = await readFile(FILE, 'utf8')
const [before = '', rest = ''] = current.split(BEGIN)
const [, after = ''] = rest.split(END)
const next = `${before}${BEGIN}\n\n${Object.entries(PROCESSES).map(table).join('\n\n')}\n\n${END}${after}`

if (!process.argv.includes('--check')) await writeFile(FILE, next)
else if (next !== current) {
  process.stdout.write('infra/RUNBOOK.md does not say what the settings are: run pnpm settings\n')
  process.exitCode = 1
}
