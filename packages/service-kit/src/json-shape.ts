import { isBase64Schema, isFreeForm } from '@keelson/contracts'
import type { core } from 'zod'

/**
 * What the JSON reader needs of a schema: the declared names and where free-form values stand. A union is the sum of
 * its options; where one option has a declared structure and another is free-form, the declared structure wins.
 */
export type Shape = {
  /** `always`: keep the text of whatever stands here. `containers`: of objects and arrays, for a scalar may be typed. */
  freeForm: 'always' | 'containers' | null
  /** A text that may arrive as `Base64Bytes`. */
  isBase64: boolean
  keys: Map<string, Shape> | null
  /** Members without a declared name. */
  rest: Shape | null
  items: Shape | null
}

/** The parts of a zod definition that lead to other schemas, of whichever kind of schema. */
type Definition = {
  type: string
  shape?: Record<string, core.$ZodType>
  catchall?: core.$ZodType
  element?: core.$ZodType
  items?: core.$ZodType[]
  rest?: core.$ZodType | null
  valueType?: core.$ZodType
  options?: core.$ZodType[]
  left?: core.$ZodType
  right?: core.$ZodType
  in?: core.$ZodType
  out?: core.$ZodType
  innerType?: core.$ZodType
  getter?: () => core.$ZodType
}

const SCALAR: Shape = { freeForm: null, isBase64: false, keys: null, rest: null, items: null }
const FREE_FORM: Shape = { ...SCALAR, freeForm: 'always' }
const BASE64: Shape = { ...SCALAR, isBase64: true }
/** Of what an option of a union forbids: it says nothing about what another allows there. */
const NOTHING: Shape = { ...SCALAR }

const isStructured = ({ keys, rest, items }: Shape): boolean => keys !== null || rest !== null || items !== null

const mergeKeys = (one: Shape, other: Shape): Map<string, Shape> | null => {
  if (!one.keys && !other.keys) return null
  const names = new Set([...(one.keys?.keys() ?? []), ...(other.keys?.keys() ?? [])])
  const at = (shape: Shape, name: string) => shape.keys?.get(name) ?? shape.rest
  return new Map([...names].map((name) => [name, merge(at(one, name), at(other, name)) ?? SCALAR]))
}

const merge = (one: Shape | null, other: Shape | null): Shape | null => {
  if (!one || one === NOTHING || one === other) return other ?? one
  if (!other || other === NOTHING) return one
  if (isStructured(one) || isStructured(other)) {
    return {
      ...SCALAR,
      keys: mergeKeys(one, other),
      rest: merge(one.rest, other.rest),
      items: merge(one.items, other.items),
    }
  }
  return { ...SCALAR, freeForm: one.freeForm === other.freeForm ? one.freeForm : 'containers' }
}

const mergeAll = (shapes: Shape[]): Shape => shapes.reduce<Shape | null>(merge, null) ?? SCALAR

const structure = (definition: Definition): Shape | null => {
  const { type, shape, catchall, element, items, rest, valueType } = definition
  const shapeIf = (schema: core.$ZodType | null | undefined) => (schema ? shapeOf(schema) : null)
  if (type === 'object' && shape) {
    const keys = new Map(Object.entries(shape).map(([name, member]) => [name, shapeOf(member)]))
    return { ...SCALAR, keys, rest: shapeIf(catchall) }
  }
  if (type === 'array') return { ...SCALAR, items: shapeIf(element) ?? SCALAR }
  if (type === 'tuple') return { ...SCALAR, items: mergeAll([...(items ?? []), ...(rest ? [rest] : [])].map(shapeOf)) }
  if (type === 'never' || type === 'undefined') return NOTHING
  if (type === 'record') return { ...SCALAR, keys: new Map(), rest: shapeIf(valueType) ?? SCALAR }
  return null
}

/** Reads the {@link Shape} of a request schema; done once, when its operation is mounted. */
export const shapeOf = (schema: core.$ZodType): Shape => {
  if (isFreeForm(schema)) return FREE_FORM
  if (isBase64Schema(schema)) return BASE64
  const definition = schema._zod.def as unknown as Definition
  const { options, left, right, innerType, getter } = definition
  if (options) return mergeAll(options.map(shapeOf))
  if (left && right) return mergeAll([left, right].map(shapeOf))
  if (innerType) return shapeOf(innerType)
  if (getter) return shapeOf(getter())
  if (definition.in && definition.out) {
    const isTransform = (definition.in._zod.def as { type: string }).type === 'transform'
    return shapeOf(isTransform ? definition.out : definition.in)
  }
  return structure(definition) ?? SCALAR
}

/** Whether base64 stands anywhere in it. */
export const holdsBase64 = ({ isBase64, keys, rest, items }: Shape): boolean =>
  isBase64 || [...(keys?.values() ?? []), rest, items].some((shape) => shape !== null && holdsBase64(shape))

/**
 * A path of a body as an answer may show it: declared names and positions in lists, joined by dots. A name that the
 * caller made up is told as `*`.
 */
export const declaredPath = (shape: Shape | null, path: readonly PropertyKey[]): string => {
  let here = shape
  const steps: string[] = []
  for (const step of path) {
    const declared = typeof step === 'string' ? here?.keys?.get(step) : undefined
    steps.push(typeof step === 'number' || declared ? String(step) : '*')
    here = declared ?? (typeof step === 'number' ? here?.items : here?.rest) ?? null
  }
  return steps.join('.')
}
