type Schema = { safeParse: (value: unknown) => { error?: { issues: { path: PropertyKey[] }[] } | undefined } }

/** For tests: where a schema first refuses a value; `null` when it does not. */
export const refusal = (schema: Schema, value: unknown): string | null => {
  const issue = schema.safeParse(value).error?.issues[0]
  return issue ? issue.path.join('.') : null
}
