import { setTimeout as delay } from 'node:timers/promises'
import { isOf, strike, type FaultCase, type Verdict } from './fault-case.ts'
import type { FaultStack } from './fault-stack.ts'
import { changeTo, insistentClient, type InsistentClient } from './insistent-client.ts'
import { wrongs } from './invariants.ts'
import { readyModels, SETTLED_WITHIN_MS } from './ready-models.ts'
import type { Link } from './wiring.ts'

const SPRUNG_WITHIN_MS = 20_000

let changes = 0

type Models = ReturnType<typeof readyModels>

/** @returns the id of the model */
const operate = async (client: InsistentClient, models: Models, { operation, vendor }: FaultCase, ready: string) => {
  if (operation === 'create') return models.create(vendor)
  if (operation === 'update') await client.update(ready, changeTo(vendor, (changes += 1)))
  else await client.remove(ready)
  return ready
}

const restart = async (stack: FaultStack, { struck }: FaultCase, { from }: Link): Promise<void> => {
  if (struck === 'connection' || struck === 'frozen') return
  await stack.restart(struck === 'deployer' && from !== 'platform-api' ? from : struck)
}

/** Plays cases on a stack, one after the other. */
export const faultPlayer = (stack: FaultStack) => {
  const client = insistentClient(stack)
  const models = readyModels(stack)
  const queue = stack.queueAt.redisUrl === undefined ? 'postgres' : 'redis'

  const play = async (fault: FaultCase): Promise<Verdict> => {
    const { operation, vendor, step, when, struck } = fault
    const ready = operation === 'create' ? '' : await models.take(vendor)
    const sprung = Promise.withResolvers<Link>()
    const spring = async (link: Link) => {
      const fate = await strike(stack, struck, link)
      sprung.resolve(link)
      return fate
    }
    const clear = stack.setTrap(isOf(step.link, queue), { isSprungBy: (said) => step.says.test(said), when, spring })
    const started = performance.now()
    const operated = operate(client, models, fault, ready)
    const link = await Promise.race([sprung.promise, delay(SPRUNG_WITHIN_MS, null)])
    clear()
    if (link === null) return { wrong: ['the step was never reached'], ms: 0 }
    await restart(stack, fault, link)
    const model_id = await operated
    const model = await client.settled(model_id, SETTLED_WITHIN_MS)
    const ms = performance.now() - started
    const status = model?.status ?? 'gone'
    const expected = operation === 'delete' ? 'gone' : 'ready'
    const wrong = [...(status === expected ? [] : [`is ${status}`]), ...(await wrongs(stack, model_id))]
    if (wrong.length === 0 && model !== null) await models.keep(vendor, model_id)
    return { wrong, ms }
  }

  return { play, touched: models.touched }
}

export type FaultPlayer = ReturnType<typeof faultPlayer>
