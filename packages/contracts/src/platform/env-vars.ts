import { isJsonObject, plainValue } from '../free-form.ts'
import { Name } from '../text.ts'
import type { RuleProblem } from './rule.ts'

/** More than any image asks for; every one of them is a part of each pod's specification. */
const MAX_VARIABLES = 1000

const VARIABLE = /^[A-Za-z_.-][A-Za-z0-9_.-]*$/

/** The name of the credential that an environment variable refers to by `{"$credential": NAME}`; `null` for any other value. */
export const credentialNameOf = (value: unknown): string | null => {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return null
  const { success, data } = Name.safeParse(value['$credential'])
  return success ? data : null
}

const isScalar = (value: unknown): boolean =>
  typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string'

const isPlainText = (value: unknown): boolean =>
  typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))

const problemOf = (name: string, value: unknown): string | null => {
  if (!VARIABLE.test(name)) return 'is no name of an environment variable'
  if (isScalar(value) && isPlainText(value)) return null
  return credentialNameOf(value) === null ? 'must be a text, a number, a boolean or {"$credential": NAME}' : null
}

/** What is wrong with the environment of a container. */
export const envVarProblems = (envVars: unknown): RuleProblem[] => {
  const variables = Object.entries(plainValue(envVars) ?? {})
  if (variables.length > MAX_VARIABLES) return [{ path: ['env_vars'], message: `must be at most ${MAX_VARIABLES}` }]
  return variables.flatMap(([name, value]) => {
    const message = problemOf(name, value)
    return message === null ? [] : [{ path: ['env_vars', name], message }]
  })
}
