import { migrateQueue } from './postgres-backend.ts'

// `pnpm db:migrate`, second half: without a Redis the jobs are kept in Postgres, in tables of BullMQ's own.
const { DATABASE_URL, REDIS_URL } = process.env

if (REDIS_URL) process.stdout.write('The queue is in Redis; nothing to migrate\n')
else if (DATABASE_URL) process.stdout.write(`The queue is at version ${await migrateQueue(DATABASE_URL)} in Postgres\n`)
else {
  process.stderr.write('DATABASE_URL is not set\n')
  process.exitCode = 78
}
