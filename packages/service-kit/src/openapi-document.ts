type PathItem = Record<string, unknown>

export type OpenApiDocument = {
  paths?: Record<string, PathItem>
  components?: Record<string, Record<string, unknown>>
}

const isMounted = (operation: unknown, mounted: ReadonlySet<string>): boolean =>
  typeof operation === 'object' &&
  operation !== null &&
  (!('responses' in operation) || ('operationId' in operation && mounted.has(String(operation.operationId))))

/** An operation with the limit that is in force here. */
const limited = (operation: unknown, bodyBytes: Readonly<Record<string, number>>): unknown => {
  const { operationId } = operation as { operationId?: string }
  const limit = operationId === undefined ? undefined : bodyBytes[operationId]
  return limit === undefined ? operation : { ...(operation as object), 'x-body-limit-bytes': limit }
}

const mountedPaths = (
  paths: Record<string, PathItem>,
  mounted: ReadonlySet<string>,
  bodyBytes: Readonly<Record<string, number>>,
): Record<string, PathItem> => {
  const mountedItem = (item: PathItem): PathItem =>
    Object.fromEntries(
      Object.entries(item)
        .filter(([, one]) => isMounted(one, mounted))
        .map(([method, one]) => [method, limited(one, bodyBytes)]),
    )
  const hasOperation = (item: PathItem): boolean =>
    Object.values(item).some((one) => typeof one === 'object' && one !== null && 'responses' in one)
  return Object.fromEntries(
    Object.entries(paths)
      .map(([path, item]) => [path, mountedItem(item)] as const)
      .filter(([, item]) => hasOperation(item)),
  )
}

const referencesOf = (part: unknown): string[] =>
  [...JSON.stringify(part ?? null).matchAll(/"#\/components\/([^"]+)"/g)].map(([, reference]) => reference!)

/** The names (`schemas/Span`) of the components that something refers to, directly or through others. */
const referenced = (paths: unknown, components: Record<string, Record<string, unknown>>): ReadonlySet<string> => {
  const found = new Set<string>()
  const queue = referencesOf(paths)
  for (let reference = queue.pop(); reference !== undefined; reference = queue.pop()) {
    if (found.has(reference)) continue
    found.add(reference)
    const [kind = '', name = ''] = reference.split('/')
    queue.push(...referencesOf(components[kind]?.[name]))
  }
  return found
}

/**
 * The document of the operations that are mounted, with the components these need; security schemes stay.
 *
 * @param bodyBytes limits of bodies that are not the document's, by `operationId`
 */
export const mountedDocument = (
  document: OpenApiDocument,
  mounted: ReadonlySet<string>,
  bodyBytes: Readonly<Record<string, number>> = {},
): string => {
  const all = document.paths ?? {}
  const paths = mountedPaths(all, mounted, bodyBytes)
  const isComplete = JSON.stringify(paths) === JSON.stringify(all)
  const components = Object.entries(document.components ?? {})
  const used = referenced(paths, document.components ?? {})
  const keep = (kind: string, name: string) => kind === 'securitySchemes' || used.has(`${kind}/${name}`)
  const kept = components.map(([kind, members]) => [
    kind,
    Object.fromEntries(Object.entries(members).filter(([name]) => keep(kind, name))),
  ])
  const served = isComplete ? document : { ...document, paths, components: Object.fromEntries(kept) }
  return `${JSON.stringify(served, null, 2)}\n`
}
