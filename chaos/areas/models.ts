import { checkDeploymentLog } from '../deployment-log.ts'
import type { Random } from '../random.ts'
import type { Account } from '../client.ts'
import { asker, isOk, tellStories, trespass, untilKnown, type Ask, type Context, type StartArea } from './area.ts'
import { checkModelHistories } from './model-histories.ts'
import { checkVendor } from './model-vendor.ts'

const LANES = 3
const ROUNDS = 4
const FAILING = ['fail-build', 'update-fails', 'fails-first', 'stuck-in-progress'] as const

const configurationOf = (vendor: 'llmengine' | 'launch', version: number, profile: string) => {
  const labels = { team: 'chaos', product: 'chaos', 'simulator-profile': profile, version: `v${version}` }
  if (vendor === 'llmengine') return { model: 'llama-3-8b-instruct', min_workers: 1, max_workers: 1, labels }
  return {
    model_image: { command: ['serve'], registry: 'registry.example.com', repository: 'chaos/model', tag: '1' },
    model_infra: {
      cpus: 2,
      memory: '8Gi',
      storage: '16Gi',
      gpus: 0,
      min_workers: 1,
      max_workers: 1,
      endpoint_type: 'sync',
      labels,
    },
  }
}

const profileOf = (random: Random) => (random.chance(0.12) ? random.pick(FAILING) : random.pick(['happy', 'instant']))

const findByName = async (ask: Ask, stopping: AbortSignal, target: string): Promise<string | null> => {
  const find = () => ask('GET', `/v5/models?name=${target}`, { operation: 'find', target, write: false })
  const found = await untilKnown(stopping, find)
  if (found === null || !isOk(found)) return null
  return (JSON.parse(found.text) as { items: { id: string }[] }).items[0]?.id ?? null
}

/** Creates a model, then reads and changes it from two sides at once, and deletes most of them. */
const tell = async (context: Context, account: Account, random: Random, target: string): Promise<void> => {
  const { stopping } = context
  const ask = asker(context, 'models', account)
  const of = account.canary
  const vendor = random.pick(['llmengine', 'launch'] as const)
  const profile = profileOf(random)
  let version = 1
  const create = () => {
    const vendor_configuration = configurationOf(vendor, 1, profile)
    const body = { name: target, model_vendor: vendor, vendor_configuration, model_metadata: { of } }
    return ask('POST', '/v5/models', { operation: 'create', target, input: 1 }, body)
  }
  if ((await untilKnown(stopping, create)) === null) return
  const id = await findByName(ask, stopping, target)
  if (id === null) return
  const path = `/v5/models/${id}`
  const read = () => ask('GET', path, { operation: 'read', target, write: false })
  const wait = () => ask('GET', `${path}?wait=3`, { operation: 'read', target, write: false })
  const configure = () => {
    version += 1
    const body = { vendor_configuration: configurationOf(vendor, version, profile) }
    return ask('PATCH', path, { operation: 'configure', target, input: version }, body)
  }
  const describe = () => {
    version += 1
    return ask('PATCH', path, { operation: 'describe', target, input: version }, { model_metadata: { of, version } })
  }
  const side = async () => {
    for (let round = 0; round < ROUNDS && !stopping.aborted; round += 1) {
      await random.pick([read, wait, wait, configure, describe])()
    }
  }
  await Promise.all([side(), side(), trespass(context, 'models', account, ['GET', path])])
  for (let attempt = 0; attempt < 4 && !stopping.aborted && random.chance(0.9); attempt += 1) {
    await wait()
    const removed = await ask('DELETE', path, { operation: 'delete', target })
    if (isOk(removed) || removed.status === 404) break
  }
  await read()
}

export const startModels: StartArea = async (context) => {
  const { stack, history } = context
  const random = context.random('models')
  const ended = tellStories(context, LANES, (account, name) => tell(context, account, random, `model-${name}`))
  return {
    ended,
    pending: async () => {
      const [row] = await stack.db.sql<[{ left: number }]>`
        select (select count(*) from platform.deployments where finished_at is null)::int
          + (select count(*) from platform.models where status = 'deploying')::int as left`
      return row.left
    },
    check: async () => {
      checkModelHistories(history)
      await checkDeploymentLog(stack.db, history)
      await checkVendor(stack, history)
    },
  }
}
