import { join } from 'node:path'
import { figureCells, table, type Results } from './results.ts'
import { writeSection } from './section.ts'

const FILE = join(import.meta.dirname, '../../README.md')

/** The figures that a newcomer wants to know first, by the beginning of their names. */
const HEADLINES: Record<string, readonly string[]> = {
  credentials: ['audited reveal', 'authentication, cached'],
  models: ['POST /v5/models', 'list page 1,000', '1,000 deployments created'],
  spans: ['POST /spans, 256 connections', 'POST /spans/batch', 'PATCH /spans/{id}'],
  checkpoints: ['get-tuple, 256 KB, 16', 'put, 256 KB, 16', 'list, 256 KB, 16', 'put, 2 KB, 16'],
  webhooks: ['verified forward, 1 KB, 32 connections, against the same', 'latency that verifying'],
}

/** Writes the figures of the README from results, misses included. */
export const writeReadme = async (results: Results): Promise<void> => {
  const rows = Object.entries(results).flatMap(([area, { title, figures }]) =>
    figures
      .filter(({ name }) => HEADLINES[area]?.some((headline) => name.startsWith(headline)))
      .map((figure) => {
        const { name, measured, baseline, ratio, wanted, holds } = figureCells(figure)
        return [`[${title}](bench/RESULTS.md#${title.toLowerCase()})`, name, measured, baseline, ratio, wanted, holds]
      }),
  )
  await writeSection(FILE, 'figures', table(['', 'figure', 'measured', 'against', 'ratio', 'wanted', 'holds'], rows))
}
