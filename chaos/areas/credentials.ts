import { isLinearizable, type Rules } from '../linearizable.ts'
import type { Account } from '../client.ts'
import type { Call } from '../history.ts'
import type { Random } from '../random.ts'
import {
  asker,
  byTarget,
  forEach,
  insist,
  tellStories,
  trespass,
  untilKnown,
  type Ask,
  type Context,
  type StartArea,
} from './area.ts'

const LANES = 2
const ROUNDS = 4

/** A credential is a register that begins and ends absent: its payload, or `null`. */
type What = { operation: string; payload: string | null; status: number | null }

const RULES: Rules<string | null, What> = {
  initial: null,
  apply: (state, { operation, payload, status }, isKnown) => {
    const exists = state !== null
    if (status === 404) return exists ? [] : [state]
    if (status === 409) return exists ? [state] : []
    if (status !== null) return [state]
    // An unknown call that finds nothing to act on has no effect.
    if (operation === 'create') return exists ? [] : [payload]
    if (operation === 'reveal') return isKnown && state !== payload ? [] : [state]
    if (!exists) return []
    return [operation === 'delete' ? null : payload]
  },
}

const revealedBy = ({ text }: Call): string | null => (JSON.parse(text) as { result: string }).result

const whatOf = (call: Call): What => ({
  operation: call.operation,
  status: call.outcome === 'failed' ? call.status : null,
  payload: call.operation === 'reveal' ? (call.outcome === 'ok' ? revealedBy(call) : null) : (call.input as string),
})

/** Reads that nobody heard of say nothing, and strangers tell of another account. */
const isTelling = ({ operation, outcome }: Call): boolean =>
  operation !== 'find' && operation !== 'trespass' && !(operation === 'reveal' && outcome === 'unknown')

const idOf = async (ask: Ask, stopping: AbortSignal, target: string): Promise<string | null> => {
  const find = () => ask('GET', `/v5/credentials/name/${target}`, { operation: 'find', target, write: false })
  const found = await untilKnown(stopping, find)
  return found?.outcome === 'ok' ? (JSON.parse(found.text) as { id: string }).id : null
}

/** Creates a credential, then changes, reveals and deletes it from two sides at once. */
const tell = async (context: Context, ask: Ask, account: Account, random: Random, name: string): Promise<void> => {
  const { stopping } = context
  const target = `credential-${name}`
  let version = 0
  const nextPayload = () => `${account.canary} ${target} ${(version += 1)}`
  const first = nextPayload()
  const create = () => {
    const body = { name: target, type: 'key', payload: first }
    return ask('POST', '/v5/credentials', { operation: 'create', target, input: first }, body)
  }
  if ((await untilKnown(stopping, create)) === null) return
  const id = await idOf(ask, stopping, target)
  if (id === null) return
  const path = `/v5/credentials/${id}`
  const change = () => {
    const payload = nextPayload()
    return ask('PATCH', path, { operation: 'change', target, input: payload }, { payload })
  }
  const reveal = () => ask('POST', `${path}/secret`, { operation: 'reveal', target, write: false })
  const remove = () => ask('DELETE', path, { operation: 'delete', target, input: null })
  const side = async () => {
    for (let round = 0; round < ROUNDS && !stopping.aborted; round += 1) await random.pick([change, reveal, reveal])()
  }
  await Promise.all([side(), side(), trespass(context, 'credentials', account, ['POST', `${path}/secret`])])
  if (random.chance(0.5)) await untilKnown(stopping, remove)
}

/** One last look at every credential, when nothing is under way any more. */
const readAll = async (context: Context): Promise<void> => {
  for (const account of context.stack.accounts) {
    const ask = asker(context, 'credentials', account)
    const targets = context.history
      .callsOf('credentials')
      .filter((call) => isTelling(call) && call.account === account.canary)
    await forEach(new Set(targets.map(({ target }) => target)), (target) =>
      insist(() => ask('POST', `/v5/credentials/name/${target}/secret`, { operation: 'reveal', target, write: false })),
    )
  }
}

export const startCredentials: StartArea = async (context) => {
  const random = context.random('credentials')
  const ended = tellStories(context, LANES, (account, name) =>
    tell(context, asker(context, 'credentials', account), account, random, name),
  )
  return {
    ended,
    pending: () => Promise.resolve(0),
    check: async () => {
      await readAll(context)
      for (const [target, calls] of byTarget(context.history.callsOf('credentials').filter(isTelling))) {
        const operations = calls.map((call) => ({ ...call, isKnown: call.outcome !== 'unknown', what: whatOf(call) }))
        if (isLinearizable(operations, RULES)) continue
        const told = calls.map(({ operation, outcome, status, input }) => [operation, outcome, status, input])
        context.history.violate('inconsistent', 'credentials', `${target}: ${JSON.stringify(told)}`)
      }
    },
  }
}
