import { migrate } from './migrate.ts'

const EX_CONFIG = 78

const main = async (): Promise<number> => {
  const url = process.env['DATABASE_URL']
  if (!url) {
    process.stderr.write('DATABASE_URL is not set\n')
    return EX_CONFIG
  }
  try {
    const applied = await migrate(url)
    for (const { name, durationMs } of applied) process.stdout.write(`applied ${name} in ${durationMs} ms\n`)
    if (applied.length === 0) process.stdout.write('the database is up to date\n')
    return 0
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    return 1
  }
}

process.exitCode = await main()
