import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const INDEX = JSON.stringify(new URL('index.ts', import.meta.url).href)
const LINES = 1000

const printed = async (program: string): Promise<unknown[]> => {
  const source = `
    import { createLogger } from ${INDEX}
    const log = createLogger({ service: 'test', level: 'info' })
    ${program}`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { count: unknown }).count)
}

test.each([
  ['over many turns', 'log.info({ count }, "line"); await new Promise(setImmediate)', ''],
  ['in one turn', 'log.info({ count }, "line")', ''],
  ['in the last turn before an exit', 'log.info({ count }, "line")', 'process.exit()'],
])('every line is printed, in order: %s', async (_, write, end) => {
  const counts = await printed(`for (let count = 0; count < ${LINES}; count += 1) { ${write} }; ${end}`)
  expect(counts).toEqual(Array.from({ length: LINES }, (__, count) => count))
})
