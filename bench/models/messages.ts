/** Names the messages in what a client sends over one connection, chunk by chunk. */
export type MessageReader = (chunk: Buffer) => string[]

/** Requests of HTTP and commands of Redis: one chunk is one message. */
export const plainMessages = (): MessageReader => (chunk) => [chunk.toString('latin1')]

const LENGTH_BYTES = 4

/** The statements a Postgres client runs, each followed by its parameters. Source: PostgreSQL, message formats. */
export const postgresMessages = (): MessageReader => {
  const prepared = new Map<string, string>()
  let pending: Buffer = Buffer.alloc(0)
  // The first message of a connection has no type.
  let typeBytes = 0

  const statementOf = (type: string, body: string): string | null => {
    const [first = '', second = ''] = body.split('\0', 2)
    if (type === 'P') prepared.set(first, second)
    if (type === 'B') return `${prepared.get(second) ?? ''}\0${body}`
    return type === 'Q' ? first : null
  }

  return (chunk) => {
    pending = Buffer.concat([pending, chunk])
    const statements: string[] = []
    while (pending.length >= typeBytes + LENGTH_BYTES) {
      const end = typeBytes + pending.readUInt32BE(typeBytes)
      if (pending.length < end) break
      const body = pending.toString('latin1', typeBytes + LENGTH_BYTES, end)
      const statement = typeBytes === 0 ? null : statementOf(pending.toString('latin1', 0, 1), body)
      if (statement !== null) statements.push(statement)
      pending = pending.subarray(end)
      typeBytes = 1
    }
    return statements
  }
}
