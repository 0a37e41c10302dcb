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

/** Bytes that a process still needs: its heap after everything else was collected, twice, for what finalizers let go. */
export const heapAfterGc = async (inspectorUrl: string): Promise<number> => {
  const collect = 'HeapProfiler.collectGarbage'
  const { usedSize = Number.NaN } = await inspect(inspectorUrl, [collect, collect, 'Runtime.getHeapUsage'])
  return usedSize
}
