import { connectQueue } from './index.ts'

/** A process of its own that takes one job, says so, and never finishes it. */
const [target = '{}', lockMs = '1000'] = process.argv.slice(2)
const queue = await connectQueue(JSON.parse(target) as { redisUrl?: string; databaseUrl?: string })
const hang = async ({ delivery_id }: { delivery_id: string }) => {
  process.stdout.write(`${delivery_id}\n`)
  await new Promise(() => {})
}
queue.work('deliver_webhook', hang, { lockMs: Number(lockMs) })
