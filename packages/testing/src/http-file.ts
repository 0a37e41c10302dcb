/** One request of a `.http` file, its placeholders still in it. */
export type HttpRequest = {
  name: string
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
}

const requestOf = (text: string): HttpRequest => {
  const [head = '', ...rest] = text.split('\n\n')
  const lines = head.split('\n').filter((line) => line !== '')
  const name = /^# @name (\w+)$/m.exec(head)?.[1] ?? ''
  const [start = '', ...headers] = lines.filter((line) => !line.startsWith('#'))
  const [method = '', url = ''] = start.split(' ')
  const body = rest.join('\n\n').trim()
  return {
    name,
    method,
    url,
    headers: Object.fromEntries(headers.map((line) => line.split(': ') as [string, string])),
    body: body === '' ? null : body,
  }
}

/** The requests of a `.http` file as VS Code's REST Client reads it, in order. */
export const readHttpFile = (text: string): HttpRequest[] =>
  text
    .split(/^###/m)
    .slice(1)
    .map((part) => requestOf(`#${part}`))

const at = (value: unknown, path: string): string =>
  String(path.split('.').reduce((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], value))

/** Sends them one after the other, filling in variables and what earlier ones were answered; tells each status. */
export const runHttpFile = async (requests: readonly HttpRequest[], variables: Record<string, string>) => {
  const answers: Record<string, unknown> = {}
  const filled = (text: string) =>
    text.replaceAll(/\{\{(\w+)(?:\.response\.body\.\$\.([\w.]+))?\}\}/g, (_, name: string, path?: string) =>
      path === undefined ? (variables[name] ?? '') : at(answers[name], path),
    )
  const outcomes: { name: string; status: number; text: string }[] = []
  for (const { name, method, url, headers, body } of requests) {
    const head = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, filled(value)]))
    const response = await fetch(filled(url), { method, headers: head, ...(body !== null && { body: filled(body) }) })
    const text = await response.text()
    if (response.headers.get('content-type')?.includes('json')) answers[name] = JSON.parse(text)
    outcomes.push({ name, status: response.status, text })
  }
  return outcomes
}
