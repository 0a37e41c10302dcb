import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const root = join(import.meta.dirname, '../..')

/** The tests of one part, as `pnpm mutation` asks for them. */
export default defineConfig({
  root,
  resolve: {
    alias: {
      '@keelson/local-stack': join(root, 'packages/local-stack/src/index.ts'),
      '@keelson/testing': join(root, 'packages/testing/src/index.ts'),
      '@keelson/vendor-simulator': join(root, 'apps/vendor-simulator/src/simulator.ts'),
    },
  },
  test: {
    isolate: false,
    include: (process.env['MUTATION_TESTS'] ?? '').split(','),
    exclude: [
      '**/node_modules/**',
      '**/dist/**',
      ...(process.env['MUTATION_SERVICES'] ? [] : ['**/*.integration.test.ts']),
    ],
    setupFiles: ['bench/mutation/fail-fast.ts'],
    globalSetup: process.env['MUTATION_SERVICES'] ? ['packages/testing/src/global-setup.ts'] : [],
    ...(process.env['MUTATION_WITHOUT'] && {
      testNamePattern: new RegExp(`^(?!.*${process.env['MUTATION_WITHOUT']})`),
    }),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
