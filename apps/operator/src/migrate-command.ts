// The schema first: where it cannot be migrated, the queue's tables stay as they are.
import '@keelson/database/migrate-command'

if (!process.exitCode) await import('@keelson/queue/migrate-command')
