import type { z } from 'zod'
import { VendorError } from './vendor-error.ts'

type Detail = { type: string; loc: PropertyKey[]; msg: string; input: unknown; ctx?: Record<string, unknown> }

const WRONG_TYPE: Record<string, [type: string, msg: string]> = {
  string: ['string_type', 'Input should be a valid string'],
  int: ['int_type', 'Input should be a valid integer'],
  number: ['int_type', 'Input should be a valid integer'],
  boolean: ['bool_type', 'Input should be a valid boolean'],
  array: ['list_type', 'Input should be a valid list'],
  object: ['dict_type', 'Input should be a valid dictionary'],
  record: ['dict_type', 'Input should be a valid dictionary'],
}

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    body,
  )

const choices = (values: readonly unknown[]): string => {
  const quoted = values.map((value) => `'${String(value)}'`)
  return [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean).join(' or ')
}

type Bound = { origin: string; inclusive?: boolean; limit: number }

const tooSmall = ({ inclusive = true, limit }: Bound): Pick<Detail, 'type' | 'msg' | 'ctx'> =>
  inclusive
    ? { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${limit}`, ctx: { ge: limit } }
    : { type: 'greater_than', msg: `Input should be greater than ${limit}`, ctx: { gt: limit } }

const tooBig = ({ origin, limit }: Bound): Pick<Detail, 'type' | 'msg' | 'ctx'> =>
  origin === 'string'
    ? { type: 'string_too_long', msg: `String should have at most ${limit} characters`, ctx: { max_length: limit } }
    : { type: 'less_than_equal', msg: `Input should be less than or equal to ${limit}`, ctx: { le: limit } }

const describe = (issue: z.core.$ZodIssue, missing: boolean): Pick<Detail, 'type' | 'msg' | 'ctx'> => {
  if (missing) return { type: 'missing', msg: 'Field required' }
  if (issue.code === 'invalid_value') {
    const expected = choices(issue.values)
    return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } }
  }
  if (issue.code === 'too_small') return tooSmall({ ...issue, limit: Number(issue.minimum) })
  if (issue.code === 'too_big') return tooBig({ ...issue, limit: Number(issue.maximum) })
  const [type, msg] = (issue.code === 'invalid_type' && WRONG_TYPE[issue.expected]) || ['value_error', issue.message]
  return { type, msg }
}

/** The array of a 422 answer, in the words of the vendor's validator. */
export const validationDetail = (
  issues: readonly z.core.$ZodIssue[],
  body: unknown,
  prefix: readonly string[],
): Detail[] =>
  issues.map((issue) => {
    const input = valueAt(body, issue.path)
    const missing = input === undefined && issue.path.length > 0
    const described = describe(issue, missing)
    return {
      ...described,
      loc: [...prefix, ...issue.path],
      input: missing ? valueAt(body, issue.path.slice(0, -1)) : input,
    }
  })

/**
 * A body as the vendor's routes read it: unknown keys ignored.
 *
 * @throws VendorError 422 with one entry per problem
 */
export const parseBody = <S extends z.ZodType>(
  schema: S,
  body: unknown,
  prefix: readonly string[] = ['body'],
): z.infer<S> => {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new VendorError(422, validationDetail(parsed.error.issues, body, prefix))
}

/** @throws VendorError 422 when the text is no JSON, or there is none */
export const readJson = (text: string): unknown => {
  if (text === '') throw new VendorError(422, [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }])
  try {
    return JSON.parse(text)
  } catch (error) {
    const ctx = { error: error instanceof Error ? error.message : 'not JSON' }
    throw new VendorError(422, [{ type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {}, ctx }])
  }
}
