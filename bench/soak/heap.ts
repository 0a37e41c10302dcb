import { setTimeout as delay } from 'node:timers/promises'

type Reply = { id: number; result: { usedSize?: number } }

/** Asks V8 over its inspector. */
const inspect = async (inspectorUrl: string, methods: readonly string[]): Promise<Reply['result']> => {
  const [target] = (await (await fetch(`${inspectorUrl}/json/list`)).json()) as [{ webSocketDebuggerUrl: string }]
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  const { promise, resolve, reject } = Promise.withResolvers<Reply['result']>()
  socket.addEventListener('error', () => reject(new Error(`the inspector at ${inspectorUrl} does not answer`)))
  socket.addEventListener('open', () => methods.forEach((method, id) => socket.send(JSON.stringify({ id, method }))))
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as Reply
    if (id === methods.length - 1) resolve(result)
  })
  return await promise.finally(() => socket.close())
}

/** What one collection frees may be what held back more; and finalizers run between two of them. */
const COLLECTIONS = 5
const PAUSE_MS = 500

/** Bytes that a process still needs: the least that its heap came to while everything else was collected, again and again. */
export const heapAfterGc = async (inspectorUrl: string): Promise<number> => {
  const sizes: number[] = []
  for (let n = 0; n < COLLECTIONS; n += 1) {
    const { usedSize = Number.NaN } = await inspect(inspectorUrl, [
      'HeapProfiler.collectGarbage',
      'Runtime.getHeapUsage',
    ])
    sizes.push(usedSize)
    await delay(PAUSE_MS)
  }
  return Math.min(...sizes)
}
