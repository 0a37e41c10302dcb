/** An expectation of the demo that did not hold; its message is for people. */
export class Unexpected extends Error {}

export type Json = { [key: string]: Json | Json[] | string | number | boolean | null }

/** `call('GET /spans')`, with a JSON body where there is one. */
export type Call = <T = Json>(request: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`, body?: object) => Promise<T>

/**
 * Calls one service with one API key.
 *
 * @throws Unexpected when the service cannot be reached or does not answer 200
 */
export const caller =
  (baseUrl: string, headers: Record<string, string>): Call =>
  async (request, body) => {
    const [method, path] = request.split(' ') as [string, string]
    const init =
      body === undefined
        ? { headers }
        : { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${baseUrl}${path}`, { method, ...init }).catch(() => {
      throw new Unexpected(`${baseUrl} cannot be reached: is npm start running?`)
    })
    const text = await response.text()
    if (response.status !== 200) throw new Unexpected(`${request} answered ${response.status}: ${text}`)
    return JSON.parse(text)
  }

export const expectEqual = (what: string, actual: unknown, expected: unknown) => {
  if (JSON.stringify(actual) !== JSON.stringify(expected))
    throw new Unexpected(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
}

export const say = (line: string) => void process.stdout.write(`${line}\n`)
