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
})
