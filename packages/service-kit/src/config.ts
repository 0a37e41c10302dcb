import { inspect } from 'node:util'
import type { Setting } from './setting.ts'

export type Environment = Readonly<Record<string, string | undefined>>
export type Settings = Record<string, Setting<unknown>>
export type Config<S extends Settings> = Readonly<{
  [Name in keyof S]: S[Name] extends Setting<infer Value> ? Value : never
}>

/** Everything that is wrong with the environment, by name; values never appear. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }

  [inspect.custom](): string {
    return this.message
  }
}

/**
 * Reads settings from an environment; an empty variable is an absent one.
 *
 * @throws ConfigError listing every problem at once
 */
export const loadConfig = <S extends Settings>(env: Environment, settings: S): Config<S> => {
  const problems: string[] = []
  const entries = Object.entries(settings).map(([name, { parse, fallback, required, description }]) => {
    const text = env[name]
    if (text === undefined || text === '') {
      if (required) problems.push(`${name} is not set: ${description}`)
      return [name, fallback]
    }
    const parsed = parse(text)
    if ('problem' in parsed) problems.push(`${name} must be ${parsed.problem}`)
    return [name, 'value' in parsed ? parsed.value : undefined]
  })
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(Object.fromEntries(entries)) as Config<S>
}

/** The settings as rows of a table for people: name, what it must be, default, meaning. */
export const describeSettings = (settings: Settings) =>
  Object.entries(settings).map(([name, { expected, fallback, required, description }]) => ({
    name,
    expected,
    default: required ? 'required' : fallback === null ? 'unset' : JSON.stringify(fallback).replaceAll('"', ''),
    description,
  }))
