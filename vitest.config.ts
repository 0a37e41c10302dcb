import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const integration = ['**/*.integration.test.ts']
const outside = ['**/node_modules/**', '**/dist/**']

// Tests anywhere may stand on these; as dependencies of packages they would close circles.
const alias = [
  { find: /^@keelson\/local-stack$/, replacement: join(import.meta.dirname, 'packages/local-stack/src/index.ts') },
  { find: /^@keelson\/testing$/, replacement: join(import.meta.dirname, 'packages/testing/src/index.ts') },
  {
    find: /^@keelson\/vendor-simulator$/,
    replacement: join(import.meta.dirname, 'apps/vendor-simulator/src/simulator.ts'),
  },
]

// A busy machine may take long to get somewhere.
const poll = { timeout: 10_000 }

export default defineConfig({
  test: {
    // Many tests wait for processes and timers, so even a machine of two cores has room for a second worker.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          // Nothing here leaves anything behind, and a worker per file would double the time.
          isolate: false,
          include: ['{apps,packages}/*/src/**/*.test.ts', 'chaos/**/*.test.ts', '*.test.ts'],
          exclude: [...outside, ...integration],
          expect: { poll },
          testTimeout: 30_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'integration',
          include: integration,
          exclude: outside,
          globalSetup: ['packages/testing/src/global-setup.ts'],
          expect: { poll },
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'e2e',
          include: ['infra/e2e/**/*.test.ts'],
          exclude: outside,
          globalSetup: ['packages/testing/src/global-setup.ts'],
          expect: { poll },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
