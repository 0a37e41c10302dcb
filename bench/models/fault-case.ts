import { setTimeout as delay } from 'node:timers/promises'
import type { FaultStack, Link, Victim } from './fault-stack.ts'
import { changeTo, insistentClient, type Vendor } from './insistent-client.ts'
import { historyOf, wrongs } from './invariants.ts'
import { stepsOf, type Operation, type Step } from './steps.ts'

/** `connection`: nobody dies, the message or its answer is lost. `frozen`: the sender stops for longer than its lease. */
export type Struck = 'deployer' | 'platform-api' | 'redis' | 'postgres' | 'connection' | 'frozen'
export const STRUCK: readonly Struck[] = ['deployer', 'platform-api', 'redis', 'postgres', 'connection']

export type FaultCase = { vendor: Vendor; operation: Operation; step: Step; when: 'before' | 'after'; struck: Struck }
export type Verdict = { wrong: string[]; ms: number }

const FREEZE_MS = 1_500
const SPRUNG_WITHIN_MS = 20_000
/** The deadline of these stacks and half a minute. */
const SETTLED_WITHIN_MS = 90_000

export const nameOf = ({ vendor, operation, step, when, struck }: FaultCase): string =>
  `${operation} ${vendor}: ${struck} ${when} "${step.name}"`

/** Every step, before and after, with everyone who may die there. */
export const matrix = (vendor: Vendor, struck: readonly Struck[]): FaultCase[] =>
  (['create', 'update', 'delete'] as const).flatMap((operation) =>
    stepsOf(operation, vendor).flatMap((step) =>
      (['before', 'after'] as const).flatMap((when) =>
        struck.map((one) => ({ vendor, operation, step, when, struck: one })),
      ),
    ),
  )

const isOf =
  ({ from, to }: Step['link'], queue: Link['to']) =>
  (link: Link) =>
    link.from.endsWith(from) && link.to === (to === 'queue' ? queue : to)

/** Strikes and says what becomes of the message: with its sender or its receiver gone, it is lost. */
const strike = async (stack: FaultStack, struck: Struck, link: Link): Promise<'pass' | 'cut'> => {
  if (struck === 'connection') return 'cut'
  if (struck === 'frozen') {
    await stack.signal(link.from, 'SIGSTOP')
    await delay(FREEZE_MS)
    await stack.signal(link.from, 'SIGCONT')
    return 'pass'
  }
  const victim: Victim = struck === 'deployer' && link.from.endsWith('deployer') ? link.from : struck
  await stack.kill(victim)
  return victim === link.from || victim === link.to ? 'cut' : 'pass'
}

let made = 0

/** Plays cases on a stack; models that one case leaves ready serve the next. */
export const faultPlayer = (stack: FaultStack) => {
  const client = insistentClient(stack)
  const ready: Record<Vendor, string[]> = { llmengine: [], launch: [] }
  const histories = new Map<string, string>()
  const queue = stack.queueAt.redisUrl === undefined ? 'postgres' : 'redis'

  const create = (vendor: Vendor) => client.create(`model ${(made += 1)}`, vendor)
  const readyModel = async (vendor: Vendor): Promise<string> => {
    const known = ready[vendor].pop()
    if (known !== undefined) return known
    const model_id = await create(vendor)
    await client.settled(model_id, SETTLED_WITHIN_MS)
    return model_id
  }

  const operate = async ({ operation, vendor }: FaultCase, model_id: string): Promise<string> => {
    if (operation === 'create') return create(vendor)
    if (operation === 'update') await client.update(model_id, changeTo(vendor, (made += 1)))
    else await client.remove(model_id)
    return model_id
  }

  const play = async (fault: FaultCase): Promise<Verdict> => {
    const { operation, vendor, step, when, struck } = fault
    const before = operation === 'create' ? '' : await readyModel(vendor)
    const sprung = Promise.withResolvers<Link>()
    const spring = async (link: Link) => {
      const fate = await strike(stack, struck, link)
      sprung.resolve(link)
      return fate
    }
    const clear = stack.setTrap(isOf(step.link, queue), { isSprungBy: (said) => step.says.test(said), when, spring })
    const started = performance.now()
    const operated = operate(fault, before)
    const link = await Promise.race([sprung.promise, delay(SPRUNG_WITHIN_MS, null)])
    clear()
    if (link === null) return { wrong: ['the step was never reached'], ms: 0 }
    if (struck === 'redis' || struck === 'postgres' || struck === 'platform-api') await stack.restart(struck)
    if (struck === 'deployer') await stack.restart(link.from.endsWith('deployer') ? link.from : 'deployer')
    const model_id = await operated
    const model = await client.settled(model_id, SETTLED_WITHIN_MS)
    const ms = performance.now() - started
    const status = model?.status ?? 'gone'
    const expected = operation === 'delete' ? 'gone' : 'ready'
    const wrong = [...(status === expected ? [] : [`is ${status}`]), ...(await wrongs(stack, model_id))]
    if (wrong.length === 0 && model !== null) {
      ready[vendor].push(model_id)
      histories.set(model_id, await historyOf(stack, model_id))
    }
    return { wrong, ms }
  }

  return {
    play,
    /** Whether anything has been written since about models that were settled: by a worker that came back late. */
    staleWrites: async (): Promise<string[]> => {
      const settled = [...ready.llmengine, ...ready.launch]
      const changed = await Promise.all(settled.map(async (id) => (await historyOf(stack, id)) !== histories.get(id)))
      return settled.filter((_, at) => changed[at])
    },
  }
}

export type FaultPlayer = ReturnType<typeof faultPlayer>
