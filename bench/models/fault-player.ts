import { setTimeout as delay } from 'node:timers/promises'
import { isKilled, isOf, strike, type FaultCase, type Strike, type Verdict } from './fault-case.ts'
import type { FaultStack } from './fault-stack.ts'
import { changeTo, insistentClient, type InsistentClient } from './insistent-client.ts'
import { untilNothingIsUnderWay, wrongs } from './invariants.ts'
import { readyModels, SETTLED_WITHIN_MS } from './ready-models.ts'
import type { Link } from './wiring.ts'

const SPRUNG_WITHIN_MS = 10_000
const TRIES = 3

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
  if (!isKilled(struck)) return
  await stack.restart(struck === 'deployer' && from !== 'platform-api' ? from : struck)
}

/** A model that serves when its time ends is ready; a repeated delete goes on where a late one was given up. */
const expectedOf = ({ operation, struck }: FaultCase): string[] => {
  if (operation === 'delete') return ['gone']
  return struck === 'deadline' ? ['ready', 'deployment_timeout'] : ['ready']
}

/** Plays cases on a stack, one after the other. */
export const faultPlayer = (stack: FaultStack) => {
  const client = insistentClient(stack)
  const models = readyModels(stack)
  const queue = stack.queueAt.redisUrl === undefined ? 'postgres' : 'redis'

  const tryOnce = async (fault: FaultCase): Promise<Verdict & { isStruck: boolean }> => {
    const { operation, vendor, step, when, struck } = fault
    const ready = operation === 'create' ? '' : await models.take(vendor)
    const sprung = Promise.withResolvers<Pick<Strike, 'over'> & { link: Link }>()
    const spring = async (link: Link) => {
      const { fate, over } = await strike(stack, struck, link)
      sprung.resolve({ link, over })
      return fate
    }
    const clear = stack.setTrap(isOf(step.link, queue), { isSprungBy: (said) => step.says.test(said), when, spring })
    const started = performance.now()
    const operated = operate(client, models, fault, ready)
    const hit = await Promise.race([sprung.promise, delay(SPRUNG_WITHIN_MS, null)])
    clear()
    if (hit !== null) await restart(stack, fault, hit.link)
    const model_id = await operated
    const model = await client.settled(model_id, SETTLED_WITHIN_MS)
    if (model?.status === 'deployment_timeout') await untilNothingIsUnderWay(stack, model_id)
    await hit?.over
    const ms = performance.now() - started
    const status = model?.status ?? 'gone'
    const isExpected = expectedOf(fault).includes(status)
    const wrong = [...(isExpected ? [] : [`is ${status}`]), ...(await wrongs(stack, model_id))]
    if (wrong.length === 0 && status === 'ready') await models.keep(vendor, model_id)
    return { wrong, ms, isStruck: hit !== null }
  }

  /** A ring is left out while its sender finds the queue again after the case before; then the case is played once more. */
  const play = async (fault: FaultCase): Promise<Verdict> => {
    for (let tries = 1; ; tries += 1) {
      const { isStruck, wrong, ms } = await tryOnce(fault)
      if (isStruck || wrong.length > 0) return { wrong, ms }
      if (tries === TRIES) return { wrong: ['the step was never reached'], ms }
    }
  }

  return { play, touched: models.touched }
}

export type FaultPlayer = ReturnType<typeof faultPlayer>
