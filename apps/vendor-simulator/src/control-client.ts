import type { Control } from './control/control.ts'

/** The control API of a simulator that runs as another process. */
export type RemoteControl = {
  [Method in keyof Control]: (...args: Parameters<Control[Method]>) => Promise<Awaited<ReturnType<Control[Method]>>>
}

type Ask = <T>(method: string, path: string, body?: unknown) => Promise<T>

const asking =
  (baseUrl: string): Ask =>
  async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${baseUrl}/__sim${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.status === 404) return (method === 'GET' ? null : false) as T
    if (!response.ok) throw new Error(`${method} /__sim${path}: ${response.status} ${text}`)
    return (text === '' ? true : JSON.parse(text)) as T
  }

const queryOf = (filter: object = {}): string =>
  new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, String(value)])).toString()

/**
 * @param baseUrl such as `http://127.0.0.1:8083`
 * @throws (each method) when the simulator does not answer or refuses
 */
export const controlClient = (baseUrl: string): RemoteControl => {
  const ask = asking(baseUrl)
  const pick = async <T>(path: string, name: string): Promise<T> =>
    (await ask<Record<string, T>>('GET', path))[name] as T
  const named = (name: string) => `/endpoints/${encodeURIComponent(name)}`
  return {
    summary: () => ask('GET', ''),
    journal: (filter) => pick(`/journal?${queryOf(filter)}`, 'entries'),
    clearJournal: () => ask('DELETE', '/journal'),
    endpoints: () => pick('/endpoints', 'endpoints'),
    endpoint: (name) => ask('GET', named(name)),
    vanish: (name) => ask('DELETE', named(name)),
    setWorkers: (name, workers) => ask('PUT', `${named(name)}/workers`, { workers }),
    addFault: async (fault) => (await ask<{ id: string }>('POST', '/faults', fault)).id,
    faults: () => pick('/faults', 'faults'),
    removeFault: (id) => ask('DELETE', `/faults/${id}`),
    clearFaults: () => ask('DELETE', '/faults'),
    profiles: () => pick('/profiles', 'profiles'),
    defineProfile: (name, profile) => ask('PUT', `/profiles/${encodeURIComponent(name)}`, profile),
    assign: (assignment) => ask('POST', '/assignments', assignment),
    assignments: () => pick('/assignments', 'assignments'),
    clearAssignments: () => ask('DELETE', '/assignments'),
    violations: () => pick('/invariants', 'violations'),
    orphans: (expected) => ask('POST', '/orphans', { expected }),
    watchSecret: (value) => ask('POST', '/secrets', { value }),
    settings: () => ask('GET', '/settings'),
    configure: (patch) => ask('PATCH', '/settings', patch),
    advance: (ms) => ask('POST', '/clock/advance', { ms }),
    reset: (options = {}) => ask('POST', '/reset', options),
  }
}
