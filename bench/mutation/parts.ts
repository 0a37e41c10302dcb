/** Faults that tests make in statements by themselves: every test is a mutant, and noticed when it passes. */
export type Faults = { tests: readonly string[]; named: string }

/** Files that must not be wrong. */
export type Part = {
  /** The files that are changed. */
  mutate: readonly string[]
  /** The tests that must notice. */
  tests: readonly string[]
  /** Tests by whose names they are left out: instrumented code is too slow for them. */
  without?: string
  /** Whether the tests need Postgres. */
  services?: true
}

const SECRETS = 'packages/secrets/src'
const FORWARD = 'apps/agent-api/src/forward'
const DEPLOYMENTS = 'apps/deployer/src/deployments'
const KIT = 'packages/service-kit/src'

export const parts: Record<string, Part> = {
  sealing: {
    mutate: ['account-keys', 'aes-gcm', 'derived-box', 'envelope', 'length-prefixed', 'sealed', 'wrapped-key'].map(
      (name) => `${SECRETS}/${name}.ts`,
    ),
    tests: [`${SECRETS}/*.test.ts`],
  },
  signatures: {
    mutate: [
      'claimed-names',
      'hmac',
      'key-index',
      'verify-github',
      'verify-request',
      'verify-slack',
      'verify-standard-webhook',
    ].map((name) => `${FORWARD}/${name}.ts`),
    tests: [`${FORWARD}/verify*.test.ts`, `${FORWARD}/claimed-names.test.ts`, `${FORWARD}/hmac.test.ts`],
  },
  'state-machine': {
    mutate: ['advance', 'pace', 'transitions'].map((name) => `${DEPLOYMENTS}/${name}.ts`),
    tests: [`${DEPLOYMENTS}/*.test.ts`, `apps/deployer/src/simulation/*.test.ts`],
  },
  'json-guard': {
    mutate: ['json-number', 'json-reader', 'json-scan', 'json-shape', 'json-token'].map((name) => `${KIT}/${name}.ts`),
    tests: [`${KIT}/json-*.test.ts`, `${KIT}/item-reader.test.ts`],
    without: '(the scan looks|a million open brackets)',
  },
  cursors: {
    mutate: [
      'packages/contracts/src/pagination.ts',
      'apps/platform-api/src/list-page.ts',
      'apps/agent-api/src/spans/list-spans.ts',
    ],
    tests: [
      'packages/contracts/src/pagination.test.ts',
      'packages/contracts/src/openapi.test.ts',
      'apps/platform-api/src/list-page.integration.test.ts',
      'apps/agent-api/src/spans/lists.integration.test.ts',
    ],
    services: true,
  },
}

export const faults: Record<string, Faults> = {
  'tenant-scoping': {
    tests: ['apps/platform-api/src/isolation.integration.test.ts', 'apps/agent-api/src/isolation.integration.test.ts'],
    named: 'is caught',
  },
}
