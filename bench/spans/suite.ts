import { connect } from '@keelson/database'
import type { Bench, Suite } from '../harness/bench.ts'
import { startBenchPostgres } from '../harness/postgres.ts'
import { startLoader } from '../harness/processes.ts'
import { frozenFigure } from './frozen-figure.ts'
import { reads } from './read-figures.ts'
import { startSpanService, type Stage } from './stage.ts'
import { batches, latency, patches, throughput, warmUp, writeCosts } from './write-figures.ts'

const onPostgres = async (bench: Bench, slowFsyncUs: number, work: (stage: Stage) => Promise<void>) => {
  const name = slowFsyncUs === 0 ? '' : `, fsync ${slowFsyncUs / 1000} ms slower`
  await using server = await startBenchPostgres({ slowFsyncUs })
  await using db = connect({ url: server.url, applicationName: 'bench', statementTimeoutMs: 600_000 })
  using group = await startSpanService(server.url, 'group')
  using single = await startSpanService(server.url, 'single')
  using loader = startLoader()
  const stage = { bench, group, single, loader, db, name }
  await warmUp(stage)
  await work(stage)
}

/** What spans cost, against a service that writes one statement for each request. */
export const spans: Suite = {
  title: 'Spans',
  run: async (bench) => {
    await onPostgres(bench, 0, async (stage) => {
      await latency(stage)
      await throughput(stage, 32, 1.3)
      await throughput(stage, 256, 1.6)
      await batches(stage)
      await patches(stage)
      await writeCosts(stage)
      await reads(stage)
    })
    await onPostgres(bench, 1000, async (stage) => {
      await throughput(stage, 32, 2)
      await throughput(stage, 256, 3.5)
      await batches(stage)
    })
    await frozenFigure(bench)
  },
}
