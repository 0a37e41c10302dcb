import { expect, it } from 'vitest'
import { areas } from './areas.ts'
import { createBench } from './harness/bench.ts'
import { describeMachine } from './harness/machine.ts'
import { plot } from './harness/plot.ts'
import { sectionOf } from './harness/results.ts'

const OPTIONS = { rounds: 1, seconds: 0.05, only: '', quick: true }

// Side by side: here nobody looks at the numbers, and most of the time is waiting.
it.concurrent.each(Object.entries(areas))(
  'measures every figure and cost of %s',
  { timeout: 300_000 },
  async (name, suite) => {
    const { bench, figures, costs } = createBench(OPTIONS)
    await suite.run(bench)
    const result = { ...OPTIONS, title: suite.title, machine: await describeMachine(), figures, costs }
    expect(figures.length).toBeGreaterThan(0)
    expect(figures.filter(({ value }) => !Number.isFinite(value))).toEqual([])
    expect(costs.filter(({ requests }) => requests === 0)).toEqual([])
    const section = sectionOf([name, result])
    const drawing = await plot(result)
    for (const figure of figures) {
      expect(section).toContain(`| ${figure.name} |`)
      expect(drawing).toContain('</svg>')
    }
  },
)
