import { parse, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'
import type { AreaResult } from './results.ts'
import { marginOf } from './figures.ts'

const WIDTH = 420
const LABELS = { labelLimit: 420, title: null }

/** Each figure as multiples of what is wanted of it, on the line or right of it where it holds. */
const margins = ({ figures }: AreaResult) => ({
  title: 'Times better than wanted (median and spread of the rounds)',
  width: WIDTH,
  height: { step: 22 },
  data: {
    values: figures.map(({ name, goal, value, spread, holds }) => {
      const [low, high] = spread.map((end) => marginOf(goal, end))
      return { name, value: marginOf(goal, value), low, high, holds: holds ? 'holds' : 'does not hold' }
    }),
  },
  encoding: { y: { field: 'name', type: 'nominal', sort: null, axis: LABELS } },
  layer: [
    { mark: { type: 'rule', color: '#888', strokeDash: [4, 3] }, encoding: { x: { datum: 1 }, y: null } },
    {
      mark: { type: 'rule', color: '#555', strokeWidth: 2 },
      encoding: {
        x: { field: 'low', type: 'quantitative', scale: { type: 'log' }, title: null },
        x2: { field: 'high' },
      },
    },
    {
      mark: { type: 'point', filled: true, size: 70, opacity: 1 },
      encoding: {
        x: { field: 'value', type: 'quantitative' },
        color: {
          field: 'holds',
          type: 'nominal',
          title: null,
          scale: { domain: ['holds', 'does not hold'], range: ['#1b7f5c', '#c0392b'] },
        },
      },
    },
  ],
})

const cpu = ({ costs }: AreaResult) => ({
  title: 'CPU of one request, in microseconds',
  width: WIDTH,
  height: { step: 22 },
  data: {
    values: costs.flatMap(({ name, nodeUs, postgresUs }) => [
      { name, where: 'Node', us: nodeUs },
      { name, where: 'Postgres', us: postgresUs },
    ]),
  },
  mark: 'bar',
  encoding: {
    y: { field: 'name', type: 'nominal', sort: null, axis: LABELS },
    x: { field: 'us', type: 'quantitative', title: null },
    color: {
      field: 'where',
      type: 'nominal',
      title: null,
      scale: { domain: ['Node', 'Postgres'], range: ['#5fa04e', '#336791'] },
    },
  },
})

/** Draws an area's figures and costs as SVG. */
export const plot = (result: AreaResult): Promise<string> => {
  const views = [margins(result), ...(result.costs.length === 0 ? [] : [cpu(result)])]
  const spec = {
    background: 'white',
    vconcat: views,
    resolve: { scale: { color: 'independent', x: 'independent', y: 'independent' } },
  } as TopLevelSpec
  return new View(parse(compile(spec).spec), { renderer: 'none' }).toSVG()
}
