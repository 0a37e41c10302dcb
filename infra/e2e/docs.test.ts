import { eventually } from '@keelson/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserBinary, openPage } from './browser.ts'
import { runningServices, type RunningServices } from './running-services.ts'

const browser = browserBinary()
const NAMES = ['platform-api', 'agent-api'] as const

const SHOWN = `JSON.stringify([...document.querySelectorAll('.opblock')].map((block) => [
  block.querySelector('.opblock-summary-method').textContent,
  block.querySelector('.opblock-summary-path').dataset.path,
].join(' ')))`

const LISTS = { 'platform-api': '/v5/models', 'agent-api': '/agents' } as const

/** Opens an operation, asks it without a key, and tells the status that the page shows. */
const executed = (path: string) => `(() => {
  const block = document.querySelector('.opblock-get [data-path="${path}"]')?.closest('.opblock')
  const press = (selector) => block?.querySelector(selector)?.click()
  if (!block?.classList.contains('is-open')) press('.opblock-summary-control')
  else if (!block.querySelector('.live-responses-table')) press('.execute')
  return block?.querySelector('.live-responses-table tbody .response-col_status')?.textContent ?? ''
})()`

describe.runIf(browser !== undefined)('/docs in a browser', () => {
  let services: RunningServices
  beforeAll(async () => {
    services = await runningServices(NAMES)
  })
  afterAll(async () => await services?.[Symbol.asyncDispose]())

  test.each(NAMES)(
    '%s shows every operation it serves, and the browser has nothing to complain about',
    async (name) => {
      const document = (await (await fetch(`${services.url[name]}/openapi.json`)).json()) as {
        paths: Record<string, Record<string, unknown>>
      }
      const served = Object.entries(document.paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
      )
      await using page = await openPage(browser ?? '', `${services.url[name]}/docs`)
      await eventually(
        async () => {
          const shown = JSON.parse(String(await page.evaluate(SHOWN))) as string[]
          expect(shown.toSorted()).toEqual(served.toSorted())
        },
        { deadlineMs: 60_000, intervalMs: 200 },
      )
      expect(page.complaints).toEqual([])
    },
  )

  test.each(NAMES)('%s answers what is executed there, on whichever port it is served', async (name) => {
    await using page = await openPage(browser ?? '', `${services.url[name]}/docs`)
    await eventually(async () => expect(await page.evaluate(executed(LISTS[name]))).toContain('401'), {
      deadlineMs: 60_000,
      intervalMs: 500,
    })
  })
})
