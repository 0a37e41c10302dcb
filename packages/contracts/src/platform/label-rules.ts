import type { RuleProblem } from './rule.ts'

/** Labels the vendor sets itself. */
const RESERVED = ['user_id', 'endpoint_name']
const LABEL_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/

/** A label's name, perhaps behind a DNS name and a slash. Source: Kubernetes, labels and selectors, syntax. */
const isLabelName = (text: string): boolean => {
  const slash = text.indexOf('/')
  return LABEL_NAME.test(text.slice(slash + 1)) && (slash === -1 || PREFIX.test(text.slice(0, slash)))
}

const problemOf = (name: string, value: string): string | null => {
  if (!isLabelName(name)) return 'is no name of a Kubernetes label'
  if (RESERVED.includes(name)) return 'is a label that the vendor sets itself'
  return value === '' || LABEL_NAME.test(value) ? null : 'is no value of a Kubernetes label'
}

/** What the vendor would refuse about labels. */
export const labelProblems = (labels: Record<string, string> = {}): RuleProblem[] =>
  Object.entries(labels).flatMap(([name, value]) => {
    const message = problemOf(name, value)
    return message === null ? [] : [{ path: ['labels', name], message }]
  })
