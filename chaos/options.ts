import { parseArgs } from 'node:util'

export const USAGE = `pnpm chaos [--minutes N] [--seed S[,S...]] [--control NAME] [--write]
  --minutes   how long faults strike, for each seed (2)
  --seed      what schedule and clients draw from; one run after the other (the time)
  --control   runs with a guard switched off, and then must find something
  --write     writes the verdict into bench/CHAOS.md
`

export type ChaosOptions = { minutes: number; seeds: number[]; control: string | null; write: boolean }

/** @throws when an option is unknown or not a number */
export const parseOptions = (args: string[]): ChaosOptions => {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      control: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  })
  const minutes = Number(values.minutes)
  const seeds = values.seed.split(',').map(Number)
  if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes} is not a positive number`)
  if (!seeds.every(Number.isSafeInteger)) throw new Error(`--seed ${values.seed} is not a list of whole numbers`)
  return { minutes, seeds, control: values.control ?? null, write: values.write }
}
