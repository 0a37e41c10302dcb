import type { Account } from '../client.ts'
import type { Call } from '../history.ts'
import type { Random } from '../random.ts'
import {
  asker,
  forEach,
  insist,
  isOk,
  tellStories,
  untilKnown,
  type Ask,
  type Context,
  type StartArea,
} from './area.ts'

const LANES = 2
const STEPS = 6
const CHANNELS = ['a', 'b', 'c'] as const

type Thread = {
  account: Account
  thread_id: string
  /** Acknowledged checkpoints and whether the writes of their task were acknowledged too. */
  acknowledged: Map<string, { hasWrites: boolean }>
  isDeleted: boolean
}

const idAt = (step: number) => String(step).padStart(8, '0')
const valueOf = ({ account, thread_id }: Thread, id: string, channel: string) =>
  Buffer.from(`${account.canary} ${thread_id} ${id} ${channel} ${'v'.repeat(200)}`).toString('base64')

const putBody = (thread: Thread, id: string, parent: string | null) => ({
  thread_id: thread.thread_id,
  checkpoint_id: id,
  parent_checkpoint_id: parent,
  checkpoint: { v: 4, id, channel_versions: Object.fromEntries(CHANNELS.map((name) => [name, id])) },
  metadata: { source: 'loop' },
  blobs: CHANNELS.map((channel) => ({ channel, version: id, type: 'text', blob: valueOf(thread, id, channel) })),
})

const writesBody = (thread: Thread, id: string) => ({
  thread_id: thread.thread_id,
  checkpoint_id: id,
  writes: [{ task_id: 'task', idx: 0, channel: 'a', type: 'text', blob: valueOf(thread, id, 'write') }],
})

const callsOn = (ask: Ask, thread: Thread) => {
  const target = thread.thread_id
  return {
    put: (id: string, parent: string | null): Promise<Call> =>
      ask('POST', '/checkpoints/put', { operation: 'put', target }, putBody(thread, id, parent)),
    putWrites: (id: string): Promise<Call> =>
      ask('POST', '/checkpoints/put-writes', { operation: 'put writes', target }, writesBody(thread, id)),
    read: (checkpoint_id: string | null): Promise<Call> => {
      const body = { thread_id: target, checkpoint_id }
      return ask('POST', '/checkpoints/get-tuple', { operation: 'read', target, write: false }, body)
    },
    remove: (): Promise<Call> =>
      ask('POST', '/checkpoints/delete-thread', { operation: 'delete', target }, { thread_id: target }),
  }
}

type Calls = ReturnType<typeof callsOn>

/** Puts one checkpoint after the other, each with the writes of a task. @returns the last one that was acknowledged */
const putSteps = async ({ stopping }: Context, thread: Thread, { put, putWrites }: Calls): Promise<string | null> => {
  let parent: string | null = null
  for (let step = 1; step <= STEPS; step += 1) {
    const id = idAt(step)
    const stored = await untilKnown(stopping, () => put(id, parent))
    if (stored?.outcome !== 'ok') return parent
    const written = await untilKnown(stopping, () => putWrites(id))
    thread.acknowledged.set(id, { hasWrites: written?.outcome === 'ok' })
    parent = id
  }
  return parent
}

/** Deletes a thread while others still write to it: whoever comes late must not bring it back. */
const removeUnderWrites = async ({ stopping }: Context, thread: Thread, calls: Calls, head: string): Promise<void> => {
  const late = Array.from({ length: 4 }, (_, index) => calls.put(idAt(STEPS + 1 + index), head))
  const [removed] = await Promise.all([untilKnown(stopping, calls.remove), calls.putWrites(head), ...late])
  thread.acknowledged.clear()
  thread.isDeleted = removed?.outcome === 'ok'
}

const tell = async (context: Context, ask: Ask, thread: Thread, random: Random): Promise<void> => {
  const calls = callsOn(ask, thread)
  const head = await putSteps(context, thread, calls)
  if (head === null) return
  const read = await calls.read(head)
  if (isOk(read) && read.text === 'null')
    context.history.violate('lost', 'checkpoints', `${thread.thread_id} ${head} was acknowledged and is not there`)
  if (random.chance(0.5)) await removeUnderWrites(context, thread, calls, head)
}

type Tuple = { blobs: { blob: string }[]; pending_writes: { blob: string }[] } | null

/** One look at everything when nothing is under way any more. */
const checkThread = async ({ history }: Context, { read }: Calls, thread: Thread): Promise<void> => {
  const { thread_id, acknowledged, isDeleted } = thread
  if (isDeleted) {
    const { text } = await insist(() => read(null))
    if (text !== 'null') history.violate('inconsistent', 'checkpoints', `${thread_id} came back after its deletion`)
  }
  for (const [id, { hasWrites }] of acknowledged) {
    const tuple = JSON.parse((await insist(() => read(id))).text) as Tuple
    const blobs = new Set(tuple?.blobs.map(({ blob }) => blob))
    const isWhole = CHANNELS.every((channel) => blobs.has(valueOf(thread, id, channel)))
    const isWritten = tuple?.pending_writes.some(({ blob }) => blob === valueOf(thread, id, 'write')) ?? false
    if (!isWhole || (hasWrites && !isWritten))
      history.violate('lost', 'checkpoints', `${thread_id} ${id} is not as it was acknowledged`)
  }
}

export const startCheckpoints: StartArea = async (context) => {
  const threads: Thread[] = []
  const random = context.random('checkpoints')
  const ended = tellStories(context, LANES, async (account, name) => {
    const thread: Thread = { account, thread_id: `thread-${name}`, acknowledged: new Map(), isDeleted: false }
    threads.push(thread)
    await tell(context, asker(context, 'checkpoints', account), thread, random)
  })
  return {
    ended,
    pending: () => Promise.resolve(0),
    check: async () => {
      await forEach(threads, (thread) =>
        checkThread(context, callsOn(asker(context, 'checkpoints', thread.account), thread), thread),
      )
    },
  }
}
