type Node = { [key: string]: unknown }

const NULL = { type: 'null' }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

const withNull = (values: unknown[], none: unknown): unknown[] =>
  values.some((value) => JSON.stringify(value) === JSON.stringify(none)) ? values : [...values, none]

/** A reference with words of its own: `null` stands beside the reference, the words around both. */
const besideReference = ([reference, words]: Node[]): Node => {
  const { type: _type, enum: _enum, ...rest } = words ?? {}
  return { anyOf: [reference, NULL], ...rest }
}

const takingNull = (schema: Node): Node => {
  const { $ref, allOf, anyOf, type, enum: values, ...rest } = schema
  if ($ref) return { anyOf: [{ $ref }, NULL], ...rest }
  if (Array.isArray(allOf)) return { ...besideReference(allOf), ...rest }
  if (Array.isArray(anyOf) && !type) return { anyOf: withNull(anyOf, NULL), ...rest }
  return {
    type: type === 'null' ? type : withNull([type].flat(), 'null'),
    ...(Array.isArray(values) && { enum: withNull(values, null) }),
    ...rest,
  }
}

const isMarked = (schema: Node): boolean =>
  'x-takes-null' in schema ||
  (Array.isArray(schema['allOf']) && schema['allOf'].some((part) => isNode(part) && 'x-takes-null' in part))

const unmarked = (schema: Node): Node => {
  const { 'x-takes-null': _mark, ...rest } = schema
  return rest
}

/**
 * Writes `null` into the schemas marked with `x-takes-null`, in JSON Schema's own words. The generator forgets it for
 * references and for schemas that say their type themselves.
 */
export const writeNulls = <Document>(document: Document): Document => {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (!isNode(value)) return value
    const schema = isMarked(value) ? takingNull(value) : value
    return Object.fromEntries(Object.entries(unmarked(schema)).map(([key, member]) => [key, walk(member)]))
  }
  return walk(document) as Document
}
