import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { invalidField } from '@keelson/service-kit'
import { Agent, type Dispatcher } from 'undici'
import { isRefusedAddress, type AddressPolicy } from './agent-address.ts'

export type Address = { address: string; family: number }

export type AgentNetworkOptions = AddressPolicy & {
  resolve?: (hostname: string) => Promise<Address[]>
  connectTimeoutMs?: number
  firstByteTimeoutMs?: number
  /** Between two pieces of an answer. */
  idleTimeoutMs?: number
  connectionsPerAgent?: number
}

/** How agents are reached, and which of their addresses may be. */
export type AgentNetwork = AsyncDisposable & {
  dispatcher: Dispatcher
  /** Whether a URL names an address, rather than a host, that no agent may be called at. */
  isRefused: (url: URL) => boolean
  /** @throws ApiError `invalid_request` when no agent may be called at the URL, as far as its name resolves now */
  assertAllowed: (url: string) => Promise<void>
}

const resolveAll = (hostname: string): Promise<Address[]> => lookup(hostname, { all: true })

/** Resolves a name once per connection, which then goes to exactly an address that was checked. */
const checkedLookup =
  (resolve: (hostname: string) => Promise<Address[]>, policy: AddressPolicy): LookupFunction =>
  (hostname, options, callback) => {
    const answer = (addresses: Address[]) => {
      const allowed = addresses.filter(({ address }) => !isRefusedAddress(address, policy))
      const [first] = allowed
      if (!first) {
        const error = Object.assign(new Error('The name resolves to no address an agent may have'), { code: 'EACCES' })
        callback(error, '', 0)
      } else if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    }
    const fail = (error: NodeJS.ErrnoException) => callback(error, '', 0)
    resolve(hostname).then(answer, fail)
  }

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

const refuse = (): never => invalidField('acp_url', 'names an address that agents may not have here')

export const agentNetwork = (options: AgentNetworkOptions): AgentNetwork => {
  const { resolve = resolveAll, connectionsPerAgent = 256 } = options
  const { connectTimeoutMs = 5_000, firstByteTimeoutMs = 15_000, idleTimeoutMs = 60_000 } = options
  const dispatcher = new Agent({
    connect: { lookup: checkedLookup(resolve, options), timeout: connectTimeoutMs },
    connections: connectionsPerAgent,
    headersTimeout: firstByteTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    maxHeaderSize: 16_384,
    allowH2: false,
  })
  const isRefused = (url: URL): boolean => isIP(hostOf(url)) !== 0 && isRefusedAddress(hostOf(url), options)
  return {
    dispatcher,
    isRefused,
    assertAllowed: async (text) => {
      const url = new URL(text)
      if (isRefused(url)) refuse()
      if (isIP(hostOf(url)) !== 0) return
      const addresses = await resolve(hostOf(url)).catch((): Address[] => [])
      if (addresses.some(({ address }) => isRefusedAddress(address, options))) refuse()
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  }
}
