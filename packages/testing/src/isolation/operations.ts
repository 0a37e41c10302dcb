type Document = { paths: Record<string, Record<string, unknown>> }

/** The ingress takes no API key; it is verified by signatures, and tested where it is. */
const INGRESS = /^\/agents\/forward\//

/** The operations of an OpenAPI document that take an API key. */
export const operationsOf = ({ paths }: Document): string[] =>
  Object.entries(paths)
    .filter(([path]) => !INGRESS.test(path))
    .flatMap(([, methods]) => Object.values(methods))
    .flatMap((operation) => (operation as { operationId?: string }).operationId ?? [])
