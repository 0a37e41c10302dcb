import { connect } from '@keelson/database'
import { assertMigrated } from '@keelson/database/migrate'
import { ConfigError, loadConfig, setting } from '@keelson/service-kit'
import { retainSpans } from './retain-spans.ts'

const EX_CONFIG = 78

const settings = {
  DATABASE_URL: setting.secret({ description: 'where the spans are' }),
  SPAN_RETENTION: setting.retentionMs({ description: 'how long spans are kept, such as `90d`' }),
}

/** Deletes the spans that were recorded longer ago than SPAN_RETENTION, and ends. */
const main = async (): Promise<number> => {
  try {
    const config = loadConfig(process.env, settings)
    const url = config.DATABASE_URL.expose()
    await using db = connect({ url, applicationName: 'retain-spans', maxConnections: 1 })
    await assertMigrated(db)
    const count = await retainSpans(db, { retentionMs: config.SPAN_RETENTION })
    process.stdout.write(`deleted ${count} spans\n`)
    return 0
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    return error instanceof ConfigError ? EX_CONFIG : 1
  }
}

process.exitCode = await main()
