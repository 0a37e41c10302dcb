import { unescape } from 'node:querystring'

/** How far behind its field a name is looked for. */
const WINDOW_BYTES = 1024
/** A body that names more than this is from nowhere. */
const MAX_NAMES = 8
const MAX_OCCURRENCES = 64

const JSON_TEXT = String.raw`"[\s+]*:[\s+]*("(?:[^"\\]|\\.)*")`

/** The fields that say where a body is from. A name is a JSON text, or the field of a form. */
const FIELDS = {
  github: [
    { field: 'full_name', name: new RegExp(`^full_name${JSON_TEXT}`) },
    { field: 'organization', name: new RegExp(String.raw`^organization"[\s+]*:[\s+]*\{[^{}]*?"login${JSON_TEXT}`) },
  ],
  slack: [{ field: 'api_app_id', name: new RegExp(`^api_app_id(?:${JSON_TEXT}|=([^&]*))`) }],
} as const

const textOf = (json: string): string => {
  try {
    return JSON.parse(json) as string
  } catch {
    return ''
  }
}

/** How a field's name ends where it is one, and not a word of some text: there a quote would be escaped. */
const endsOf = (isForm: boolean): string[] => (isForm ? ['%22', '='] : ['"'])

/**
 * The names a body may turn out to be from once it is verified, each once: found by looking at its bytes, since nothing
 * is parsed before. The real one is always among them unless there are too many.
 */
export const claimedNames = (source: keyof typeof FIELDS, body: Buffer, isForm: boolean): string[] => {
  const names = new Set<string>()
  for (const { field, name } of FIELDS[source]) {
    for (const end of endsOf(isForm)) {
      let at = body.indexOf(field + end)
      for (let seen = 0; at !== -1 && seen < MAX_OCCURRENCES && names.size < MAX_NAMES; seen += 1) {
        const window = body.toString('utf8', at, at + WINDOW_BYTES)
        const [, json, plain] = name.exec(isForm ? unescape(window) : window) ?? []
        if (json !== undefined || plain !== undefined) names.add(plain ?? textOf(json!))
        at = body.indexOf(field + end, at + field.length)
      }
    }
  }
  return [...names]
}
