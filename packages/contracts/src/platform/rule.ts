import type { z } from '@hono/zod-openapi'

/** What a rule finds wrong: where in the configuration, and what, without any value that was sent. */
export type RuleProblem = { path: (string | number)[]; message: string }

/** Looks at a configuration that has the right shape. No problems: the vendor would take it. */
export type Rule<Configuration> = (configuration: Configuration) => RuleProblem[]

/** A schema whose value must also obey a rule. */
export const obeying = <Schema extends z.ZodType>(schema: Schema, rule: Rule<z.output<Schema>>): Schema =>
  schema.superRefine((value, ctx) => {
    for (const { path, message } of rule(value)) ctx.addIssue({ code: 'custom', path, message })
  })

/** The problems of those checks that failed. */
export const failing = (
  checks: readonly (readonly [isWrong: unknown, path: string, message: string])[],
): RuleProblem[] =>
  checks.filter(([isWrong]) => Boolean(isWrong)).map(([, path, message]) => ({ path: path.split('.'), message }))
