import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keepProcess } from '@keelson/local-stack'
import { eventually } from '@keelson/testing'
import { onPath } from './prometheus.ts'

/** A browser that speaks the Chrome DevTools Protocol; `undefined` where there is none. */
export const browserBinary = (): string | undefined =>
  ['chromium', 'chromium-browser', 'google-chrome'].map(onPath).find((path) => path !== undefined)

type Message = {
  id?: number
  method?: string
  params?: { type?: string; entry?: { level: string; text: string; url?: string } } & Record<string, unknown>
  result?: { result?: { value?: unknown } }
}

/** What a page complains about: exceptions, `console.error`, and what the browser itself logs as an error. */
const complaintOf = ({ method, params }: Message): string | null => {
  if (method === 'Runtime.exceptionThrown') return JSON.stringify(params)
  if (method === 'Runtime.consoleAPICalled' && params?.type === 'error') return JSON.stringify(params)
  if (method === 'Log.entryAdded' && params?.entry?.level === 'error') return `${params.entry.text} ${params.entry.url}`
  return null
}

const connected = (url: string): Promise<WebSocket> => {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>()
  const socket = new WebSocket(url)
  socket.addEventListener('open', () => resolve(socket))
  socket.addEventListener('error', () => reject(new Error('the browser does not listen')))
  return promise
}

/** The page a browser opened first. The browser creates the file with its port before it writes the port into it. */
const firstPage = async (profile: string) => {
  const [port] = (await readFile(join(profile, 'DevToolsActivePort'), 'utf8')).split('\n')
  if (!port) throw new Error('the browser has not said its port yet')
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
    type: string
    webSocketDebuggerUrl: string
  }[]
  const page = targets.find(({ type }) => type === 'page')
  if (page === undefined) throw new Error('the browser has not opened its page yet')
  return page
}

/** Opens a page in a real browser, headless, with a profile of its own. */
export const openPage = async (binary: string, url: string) => {
  await using stack = new AsyncDisposableStack()
  const profile = await mkdtemp(join(tmpdir(), 'keelson-browser-'))
  stack.defer(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }))
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
  ]
  const browser = keepProcess([binary, ...flags, 'about:blank'], {
    env: process.env,
    stopSignal: 'TERM',
    output: 'pipe',
  })
  stack.defer(async () => void (await browser.stop()))
  const page = await eventually(() => firstPage(profile), { deadlineMs: 60_000 })
  const socket = await connected(page.webSocketDebuggerUrl)
  stack.defer(() => socket.close())

  const complaints: string[] = []
  const waiting = new Map<number, (message: Message) => void>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    const complaint = complaintOf(message)
    if (complaint !== null) complaints.push(complaint)
    if (message.id !== undefined) waiting.get(message.id)?.(message)
  })
  let last = 0
  const command = (method: string, params: object = {}): Promise<Message> => {
    const { promise, resolve } = Promise.withResolvers<Message>()
    waiting.set((last += 1), resolve)
    socket.send(JSON.stringify({ id: last, method, params }))
    return promise
  }
  for (const domain of ['Runtime', 'Log', 'Page']) await command(`${domain}.enable`)
  await command('Page.navigate', { url })
  const owned = stack.move()
  return {
    complaints,
    /** The value of an expression in the page. */
    evaluate: async (expression: string): Promise<unknown> =>
      (await command('Runtime.evaluate', { expression, returnByValue: true })).result?.result?.value,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
