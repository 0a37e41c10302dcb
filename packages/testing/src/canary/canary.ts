import { randomBytes } from 'node:crypto'
import type { RawAnswer } from '@keelson/contracts/client'
import { openWorld, type MatrixOptions } from '../isolation/world.ts'
import { hostileRequests } from './requests.ts'
import { tokensIn, tokensInDatabase } from './search.ts'

export type CanaryOptions = MatrixOptions & {
  /** The same service on a database that is away. */
  fetchDown: (request: Request) => Promise<Response>
  /** What was logged so far. */
  lines: readonly string[]
  metrics: () => Promise<string>
}

/** Sends tokens where secrets go, and then looks for them where none may be. */
export const canary = async (options: CanaryOptions) => {
  const world = await openWorld(options)
  const down = await openWorld({ ...options, fetch: options.fetchDown, accounts: world })
  const tokens: string[] = [world.owner.token, world.stranger.token]
  const told: string[] = []

  const token = (what: string): string => {
    const made = `canary${randomBytes(15).toString('hex')}${what.replaceAll(/\W/g, '')}`
    tokens.push(made)
    return made
  }

  const notice = (what: string, { text }: RawAnswer): void => {
    told.push(...tokensIn(text, tokens).map((one) => `${one} in the answer to ${what}`))
  }

  return {
    token,
    /** Takes a secret made elsewhere under watch. */
    watch: (secret: string): void => void tokens.push(secret),

    /** Sends every request to an operation that must be refused, and a good one while the database is away. */
    drive: async (operationId: string): Promise<void> => {
      const { route, fixture, label } = world.subject(operationId)
      const { ids: _ids, ...good } = await fixture.own(world.callAs(world.owner), label)
      for (const { fault, request } of hostileRequests(route, good, (name) => token(`${operationId}${name}`))) {
        const answer = await world.sendAs(world.owner, route, { ...request, ids: [] })
        if (answer.status >= 400) notice(`${operationId} ${fault}`, answer)
      }
      const unknown = {
        ...(good.body as object | undefined),
        [token(`${operationId}down`)]: token(`${operationId}down`),
      }
      const request = { ...good, ...(good.body !== undefined && { body: unknown }), ids: [] }
      notice(`${operationId} without its database`, await down.sendAs(world.owner, route, request))
    },

    /** Where tokens were found that should be nowhere. */
    found: async (): Promise<string[]> => {
      const [logged, measured] = [options.lines.join('\n'), await options.metrics()]
      return [
        ...told,
        ...tokensIn(logged, tokens).map((one) => `${one} in the log`),
        ...tokensIn(measured, tokens).map((one) => `${one} in the metrics`),
        ...(await tokensInDatabase(options.db, tokens)),
      ]
    },
  }
}
