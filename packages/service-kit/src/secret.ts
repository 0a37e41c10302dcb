import { inspect } from 'node:util'

const PRINTED = '[secret]'

/** A value that no log, JSON, template or inspection prints; only {@link Secret.expose} gives it away. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value itself. Every call site is a place to review. */
  expose(): string {
    return this.#value
  }

  toString(): string {
    return PRINTED
  }

  toJSON(): string {
    return PRINTED
  }

  [inspect.custom](): string {
    return PRINTED
  }
}
