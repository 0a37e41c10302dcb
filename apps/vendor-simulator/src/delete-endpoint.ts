import type { Call } from './call.ts'
import { failsAt } from './choose-profile.ts'
import { addOperation, latestRollout, type Endpoint, type TeardownOperation } from './endpoint.ts'
import { Profile } from './profile.ts'
import { VendorError } from './vendor-error.ts'
import type { World } from './world.ts'
import { refuseConflict } from './write-endpoint.ts'

const startTeardown = (world: World, endpoint: Endpoint): TeardownOperation => {
  const profile = world.profiles.get(latestRollout(endpoint).profile) ?? Profile.parse({})
  const attempt = (world.teardowns.get(endpoint.name) ?? 0) + 1
  world.teardowns.set(endpoint.name, attempt)
  const operation: TeardownOperation = {
    kind: 'delete',
    startedMs: world.clock.now(),
    startedWallMs: world.clock.wall(),
    durationMs: profile.delete.duration_ms,
    fails: failsAt(attempt, profile.delete.fail_first),
  }
  addOperation(endpoint, operation)
  return operation
}

const runningTeardown = ({ operations }: Endpoint, now: number): TeardownOperation | undefined => {
  const last = operations.at(-1)
  return last?.kind === 'delete' && now < last.startedMs + last.durationMs ? last : undefined
}

/** Answers when the teardown is over; a second request waits for the first one's. @throws VendorError 409, 500 */
export const deleteEndpoint = async (call: Call, endpoint: Endpoint, failed: string) => {
  const { world, replica, entry } = call
  refuseConflict(world, endpoint)
  const running = runningTeardown(endpoint, world.clock.now())
  const { startedMs, durationMs, fails } = running ?? startTeardown(world, endpoint)
  entry.committed = running === undefined
  world.records.written(replica, endpoint)
  await world.clock.sleep(startedMs + durationMs - world.clock.now())
  if (fails) throw new VendorError(500, failed)
  if (world.endpoints.get(endpoint.id) === endpoint) world.endpoints.delete(endpoint.id)
  world.records.removed(replica, endpoint.id)
  return { deleted: true }
}
