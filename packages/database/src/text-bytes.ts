/** A parameter of type `text` that is given as its UTF-8: for large ones, which as a string would be copied for nothing. */
export class TextBytes {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** What a parameter of type `text` is sent as; the driver takes bytes as they are. */
export const serializeText = (value: unknown): string | Uint8Array =>
  value instanceof TextBytes ? value.bytes : String(value)
