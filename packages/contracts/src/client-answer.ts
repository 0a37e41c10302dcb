import { isDeepStrictEqual } from 'node:util'
import { Problem } from './errors.ts'
import type { Route } from './route.ts'
import { parseJson } from './parse-json.ts'

export type RawAnswer = { status: number; headers: Headers; text: string }

/** An answer that the contract declares as a problem. */
export class ProblemError extends Error {
  readonly status: number
  readonly problem: Problem
  readonly headers: Headers

  constructor(operationId: string, problem: Problem, headers: Headers) {
    super(`${operationId}: ${problem.status} ${problem.code}: ${problem.detail}`)
    this.name = 'ProblemError'
    this.status = problem.status
    this.problem = problem
    this.headers = headers
  }
}

/** An answer that the contract does not declare: the server is wrong, or is not ours. */
export class ContractError extends Error {
  constructor(operationId: string, { status, text }: RawAnswer, why: string) {
    super(`${operationId}: an answer of ${status} is not as declared (${why}): ${text.slice(0, 500)}`)
    this.name = 'ContractError'
  }
}

type Expected = {
  mediaType: string
  schema: { safeParse: (value: unknown) => { data?: unknown; error?: Error | undefined } }
}

/** The parsed body, exactly as declared: nothing missing, nothing more. */
const parse = (operationId: string, answer: RawAnswer, { mediaType, schema }: Expected): unknown => {
  const refuse = (why: string): never => {
    throw new ContractError(operationId, answer, why)
  }
  if (answer.headers.get('content-type')?.split(';')[0] !== mediaType) refuse('media type')
  let body: unknown
  try {
    body = parseJson(answer.text)
  } catch {
    refuse('no JSON')
  }
  const { data, error } = schema.safeParse(body)
  if (error) refuse(error.message)
  return isDeepStrictEqual(data, body) ? data : refuse('an undeclared field')
}

/**
 * What an operation answered.
 *
 * @throws ProblemError for a declared problem, ContractError for anything that is not declared
 */
export const readAnswer = ({ operationId, schemas, errors }: Route, answer: RawAnswer): unknown => {
  const { status, headers, text } = answer
  if (status >= 400) {
    const problem = parse(operationId, answer, { mediaType: 'application/problem+json', schema: Problem }) as Problem
    if (problem.status !== status || !errors.includes(problem.code))
      throw new ContractError(operationId, answer, 'problem')
    throw new ProblemError(operationId, problem, headers)
  }
  if (status !== (schemas.ok ? 200 : 204)) throw new ContractError(operationId, answer, 'status')
  if (schemas.ok) return parse(operationId, answer, { mediaType: 'application/json', schema: schemas.ok })
  if (text !== '') throw new ContractError(operationId, answer, 'a body')
  return undefined
}
