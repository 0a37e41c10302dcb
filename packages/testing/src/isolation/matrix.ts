import type { RawAnswer } from '@keelson/contracts/client'
import { accountState } from './account-state.ts'
import type { NamedRequest } from './fixture.ts'
import { refusalsOf } from './refusals.ts'
import { openWorld, type MatrixOptions, type Subject, type World } from './world.ts'

export type { MatrixOptions } from './world.ts'

/** What is wrong with one operation, in words; empty when nothing is. */
type Check = (operationId: string) => Promise<string[]>

export type Matrix = { refusals: Check; isolation: Check }

/** What varies between two equal answers: names the request gave, ids and keys made on the way, times. */
const comparable = ({ status, text }: RawAnswer, ids: readonly string[]): string => {
  if (status >= 400) return `${status} ${text}`
  const plain = ids.reduce((rest, id) => rest.replaceAll(id, '<named>'), text)
  const known = plain
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, '<uuid>')
    .replaceAll(/\b(cred|model|deploy|user|key)_[0-9a-z]{26}\b/g, '<id>')
  return `${status} ${known.replaceAll(/\b(klagent|whsec)_[\w+/=]+|\b[\da-f]{64}\b/g, '<key>')}`
}

/** Ids an answer tells that the request did not hold. */
const toldIds = ({ status, text }: RawAnswer, { ids, ...asked }: NamedRequest): string[] => {
  const known = JSON.stringify(asked)
  return status < 300 ? ids.filter((id) => text.includes(id) && !known.includes(id)) : []
}

const compareWithMissing = async (
  world: World,
  { route, fixture, label }: Subject,
  foreign: string,
): Promise<string[]> => {
  if (!fixture.missing) return []
  const request = fixture.missing(label)
  const missing = comparable(await world.sendAs(world.stranger, route, request), request.ids)
  return missing === foreign ? [] : [`a foreign object answers ${foreign}, a missing one ${missing}`]
}

const isolationOf = async (world: World, subject: Subject): Promise<string[]> => {
  const { db, owner, stranger } = world
  const { route, fixture, label } = subject
  const request = await fixture.own(world.callAs(owner), label)
  const before = await accountState(db, owner.account_id)
  const foreign = await world.sendAs(stranger, route, request)
  const wrong = (await accountState(db, owner.account_id)) === before ? [] : ['a stranger changed something']
  for (const id of toldIds(foreign, request)) wrong.push(`a stranger is told ${id}`)
  wrong.push(...(await compareWithMissing(world, subject, comparable(foreign, request.ids))))
  // Without an owner who gets through, the refusals above would prove nothing.
  const own = await world.sendAs(owner, route, request)
  if (own.status >= 300) wrong.push(`the owner gets ${own.status} ${own.text}`)
  return wrong
}

/** The generated matrix over the operations of one service: every caller x every object. */
export const isolationMatrix = async (options: MatrixOptions): Promise<Matrix> => {
  const world = await openWorld(options)
  return {
    refusals: await refusalsOf(world),
    isolation: (operationId) => isolationOf(world, world.subject(operationId)),
  }
}
