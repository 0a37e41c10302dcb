import { ERRORS } from '@keelson/contracts'
import { accountState } from './account-state.ts'
import { refusedActors } from './actors.ts'
import type { NamedRequest } from './fixture.ts'
import type { Subject, World } from './world.ts'

/** Own, foreign and missing object of one operation. */
const objectsOf = async ({ owner, stranger, callAs }: World, { fixture, label }: Subject) => {
  const own = await fixture.own(callAs(owner), label)
  const foreign = await fixture.own(callAs(stranger), `${label}-foreign`)
  const objects: Record<string, NamedRequest> = { own, foreign }
  if (fixture.missing) objects['missing'] = fixture.missing(label)
  return Object.entries(objects)
}

const stateOf = async ({ db, owner, stranger }: World) =>
  [await accountState(db, owner.account_id), await accountState(db, stranger.account_id)].join()

/** Asks with every wrong key about every object: one answer for each kind of refusal, and nothing changes. */
export const refusalsOf = async (world: World): Promise<(operationId: string) => Promise<string[]>> => {
  const actorsFor = await refusedActors(world.db, world.service, world.owner)
  return async (operationId) => {
    const subject = world.subject(operationId)
    const objects = await objectsOf(world, subject)
    const before = await stateOf(world)
    const wrong: string[] = []
    const texts = new Map<string, string>()
    for (const { actor, headers, code } of await actorsFor(subject.route.scope)) {
      for (const [object, request] of objects) {
        const { status, text } = await world.send(subject.route, request, headers)
        const said = `${operationId}, ${actor}, ${object} object: ${status} ${text}`
        if (status !== ERRORS[code].status || !text.includes(`"code":"${code}"`)) wrong.push(said)
        if ((texts.get(code) ?? text) !== text) wrong.push(`${said}, and another time ${texts.get(code)}`)
        texts.set(code, text)
      }
    }
    if ((await stateOf(world)) !== before) wrong.push(`${operationId}: a refused caller changed something`)
    return wrong
  }
}
