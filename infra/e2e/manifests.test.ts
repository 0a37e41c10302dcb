import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NODE_ENVIRONMENT, NODE_FLAGS } from '@keelson/local-stack'
import { parse, parseAllDocuments } from 'yaml'
import { composeProblems, manifestProblems } from './manifest-schemas.ts'
import { ROOT } from './run-start.ts'

const KUBERNETES = join(ROOT, 'infra/kubernetes')

type Container = {
  name: string
  securityContext?: Record<string, unknown>
  resources?: { limits?: { memory?: string } }
  readinessProbe?: unknown
  livenessProbe?: unknown
}
type PodSpec = {
  containers: Container[]
  initContainers?: Container[]
  securityContext?: Record<string, unknown>
  automountServiceAccountToken?: boolean
}
type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: { template: { metadata: { labels: Record<string, string> }; spec: PodSpec } }
}

const kustomization: { resources: string[] } = parse(await readFile(join(KUBERNETES, 'kustomization.yaml'), 'utf8'))
const manifests: Manifest[] = (
  await Promise.all(
    kustomization.resources.map(async (file) =>
      parseAllDocuments(await readFile(join(KUBERNETES, file), 'utf8')).map((document) => document.toJS() as Manifest),
    ),
  )
).flat()
const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
const deployments = workloads.filter(({ kind }) => kind === 'Deployment')
const names = (kind: string) => manifests.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name)

test('kustomize names every manifest of the folder', async () => {
  const files = (await readdir(KUBERNETES)).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  expect(kustomization.resources.toSorted()).toEqual(files.toSorted())
})

test.each(manifests.map((one) => [`${one.kind} ${one.metadata.name}`, one] as const))(
  '%s is what the schema of its kind allows',
  async (_name, manifest) => expect(await manifestProblems(manifest)).toEqual([]),
)

test.each(workloads.map((one) => [one.metadata.name, one] as const))(
  '%s runs unprivileged, read-only and within a memory limit',
  (_name, { spec }) => {
    const pod = spec.template.spec
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    for (const { securityContext, resources } of [...pod.containers, ...(pod.initContainers ?? [])]) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(resources?.limits?.memory).toBeDefined()
    }
  },
)

test('every service has probes, a disruption budget, an autoscaler and network policies', () => {
  const services = deployments.map(({ metadata }) => metadata.name)
  expect(services).toEqual(['platform-api', 'agent-api', 'webhook-worker', 'deployer'])
  expect(names('PodDisruptionBudget')).toEqual(services)
  expect(names('HorizontalPodAutoscaler')).toEqual(services)
  expect(names('NetworkPolicy')).toContain('default-deny')
  for (const { spec } of deployments)
    for (const container of spec.template.spec.containers) {
      expect(container.readinessProbe).toBeDefined()
      expect(container.livenessProbe).toBeDefined()
    }
})

test('a manifest with a misspelt field is refused, so the schemas do look', async () => {
  const [wrong] = structuredClone(deployments) as [Manifest]
  Object.assign(wrong.spec.template.spec.containers[0]!, { ports: [{ containerPort: 'eighty' }] })
  expect(await manifestProblems(wrong)).not.toEqual([])
})

test('the compose file is what the Compose Specification allows, and a wrong one is refused', async () => {
  const compose = parse(await readFile(join(ROOT, 'infra/compose.yaml'), 'utf8'), { merge: true })
  expect(composeProblems(compose)).toEqual([])
  expect(composeProblems({ services: { one: { port: ['80'] } } })).not.toEqual([])
})

test('every process of the compose file is read-only, unprivileged and without capabilities', async () => {
  const compose: { services: Record<string, { image: string }> } = parse(
    await readFile(join(ROOT, 'infra/compose.yaml'), 'utf8'),
    { merge: true },
  )
  const ours = Object.values(compose.services).filter(({ image }) => image.startsWith('keelson/'))
  expect(ours).toHaveLength(7)
  for (const service of ours) expect(service).toMatchObject({ read_only: true, user: '65532:65532', cap_drop: ['ALL'] })
})

test('the images start Node with the flags and the environment that services are started with here', async () => {
  const dockerfile = await readFile(join(ROOT, 'infra/Dockerfile'), 'utf8')
  const options = /NODE_OPTIONS="(.*)"/.exec(dockerfile)?.[1]?.split(' ')
  expect(options).toEqual(expect.arrayContaining(NODE_FLAGS))
  for (const [name, value] of Object.entries(NODE_ENVIRONMENT)) expect(dockerfile).toContain(` ${name}=${value} `)
})
