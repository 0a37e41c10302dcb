import type { core } from 'zod'
import type { FieldProblem } from './api-error.ts'
import { declaredPath, type Shape } from './json-shape.ts'

const MAX_PROBLEMS = 20

type Issue = core.$ZodIssue

/** Of a union's options, the one that came closest: it failed deepest, then in the fewest places. */
const closest = (options: Issue[][]): Issue[] | undefined => {
  const depth = (issues: Issue[]) => Math.min(...issues.map(({ path }) => path.length))
  return options.toSorted((one, other) => depth(other) - depth(one) || one.length - other.length)[0]
}

const flatten = (issue: Issue): Issue[] => {
  const options = issue.code === 'invalid_union' ? closest(issue.errors) : undefined
  if (!options || options.every(({ path }) => path.length === 0)) return [issue]
  return options.flatMap(flatten).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

/** The types that would do where none of a union's was given. */
const typesOf = (options: Issue[][]): string[] =>
  options.flatMap(([first]) => (first?.code === 'invalid_type' ? [first.expected] : []))

const messageOf = (issue: Issue): string => {
  const types = issue.code === 'invalid_union' ? typesOf(issue.errors) : []
  if (types.length > 0) return `expected ${[...new Set(types)].join(' or ')}`
  if (issue.code === 'unrecognized_keys') return 'has a field that is not part of it'
  if (issue.code === 'invalid_key') return 'has a name that is not accepted'
  return issue.message.replace(/^Invalid input: /, '')
}

/** What was wrong with which field, for people: no value and no name that the caller made up. */
export const fieldProblems = (issues: readonly Issue[], shape: Shape): FieldProblem[] =>
  issues
    .slice(0, MAX_PROBLEMS)
    .flatMap(flatten)
    .slice(0, MAX_PROBLEMS)
    .map((issue) => ({ path: declaredPath(shape, issue.path), message: messageOf(issue) }))
