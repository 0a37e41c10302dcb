import { pino, type Logger as Pino } from 'pino'
import { safeError } from './safe-error.ts'

/** The fields a log line may carry; everything else is left out, so a body or a key cannot be printed by accident. */
const FIELDS = [
  'account_id agent_id agent_name attempt attempts bytes count delivery_id deployment_id drained duration_ms error_code',
  'event generation host identity_id identity_type job job_id key_id kind lag_ms limit_bytes method migration model_id',
  'ms name operation outcome phase port process queue reason request_id retry_after_seconds route service signal source',
  'state status thread_id trace_id vendor version',
].flatMap((names) => names.split(' '))

const MAX_TEXT_LENGTH = 300

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Fields of a line; `err` may be any error and is told safely. */
export type LogFields = { err?: unknown; [field: string]: unknown }
type Log = { (message: string): void; (fields: LogFields, message: string): void }

export type Logger = Readonly<Record<Exclude<LogLevel, 'silent'>, Log>> & {
  /** A logger whose every line carries these fields too. */
  child: (fields: LogFields) => Logger
}

export type LoggerOptions = {
  service: string
  /** At `debug` and `trace`, error messages are printed as well; they may quote data. */
  level: LogLevel
  /** More field names that are safe to print. */
  fields?: readonly string[]
  /** Where the lines go; stdout when left out. */
  destination?: { write: (line: string) => void }
}

const printable = (value: unknown): unknown => {
  if (typeof value === 'string') return value.length > MAX_TEXT_LENGTH ? `${value.slice(0, MAX_TEXT_LENGTH)}…` : value
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : undefined
}

const allowing = (names: ReadonlySet<string>, withMessages: boolean) => (fields: LogFields) => {
  const allowed: Record<string, unknown> = {}
  for (const name in fields) {
    if (name === 'err') allowed['err'] = safeError(fields.err, withMessages)
    else if (names.has(name)) allowed[name] = printable(fields[name])
    else allowed['left_out'] = name
  }
  return allowed
}

const wrap = (pinoLogger: Pino, allow: (fields: LogFields) => Record<string, unknown>): Logger => {
  const at = (level: Exclude<LogLevel, 'silent'>): Log => {
    return (fields: LogFields | string, message?: string) => {
      if (!pinoLogger.isLevelEnabled(level)) return
      if (typeof fields === 'string') pinoLogger[level](fields)
      else pinoLogger[level](allow(fields), message)
    }
  }
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    child: (fields) => wrap(pinoLogger.child(allow(fields)), allow),
  }
}

/**
 * Standard output. The first line of a turn of the event loop goes out at once, those that follow in it together at its
 * end: a write costs as much as the line, and under load a turn has many.
 */
const stdout = () => {
  const stream = pino.destination({ dest: 1, sync: true })
  let following: string | null = null
  const flush = (): void => {
    if (following) stream.write(following)
    following = null
  }
  process.on('exit', flush)
  return {
    write: (line: string): void => {
      if (following !== null) {
        following += line
        return
      }
      following = ''
      stream.write(line)
      setImmediate(flush)
    },
  }
}

/**
 * A logger writing JSON lines. A field that is not on the allow-list is dropped and its name told as `left_out`;
 * objects are never printed; `err` shows name, code, stack frames and causes.
 */
export const createLogger = ({ service, level, fields = [], destination }: LoggerOptions): Logger => {
  const options = { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'message' }
  const withMessages = level === 'debug' || level === 'trace'
  return wrap(pino(options, destination ?? stdout()), allowing(new Set([...FIELDS, ...fields]), withMessages))
}
