import { setTimeout as delay } from 'node:timers/promises'
import { startClients } from './spans/acknowledged.ts'
import { crashStack, type Victim } from './spans/crash.ts'

// Kills the service and Postgres at random under load, and looks for every acknowledged span afterwards. Builds nothing:
//   pnpm build && pnpm bench:crash [KILLS]

const KILLS = Number(process.argv[2] ?? 100)
const VICTIMS: Victim[] = ['service', 'postmaster', 'backend']

await using stack = await crashStack()
const clients = startClients(stack, 16)
const killed: Record<Victim, number> = { service: 0, postmaster: 0, backend: 0 }
for (let kill = 1; kill <= KILLS; kill += 1) {
  const before = clients.acknowledgedCount()
  await delay(50 + Math.random() * 400)
  // A kill counts only under load.
  while (clients.acknowledgedCount() === before) await delay(20)
  const victim = VICTIMS[Math.floor(Math.random() * VICTIMS.length)]!
  await stack.kill(victim)
  killed[victim] += 1
  if (kill % 10 === 0) process.stdout.write(`${kill} kills, ${clients.acknowledgedCount()} spans acknowledged\n`)
}
await delay(1000)
const { spans, statuses, problems } = await clients.finish()
for (const problem of problems.slice(0, 20)) process.stdout.write(`${problem}\n`)
process.stdout.write(`${JSON.stringify({ killed, acknowledged: spans, statuses, problems: problems.length })}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
