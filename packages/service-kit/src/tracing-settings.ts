import type { Config } from './config.ts'
import type { Logger } from './logger.ts'
import { setting } from './setting.ts'
import type { Tracer } from './tracer.ts'

/** Where spans are told, by the names that OpenTelemetry gave these settings. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting.url({
    protocols: ['http', 'https'],
    default: null,
    description: 'the OTLP/HTTP receiver of traces, such as `http://collector:4318`; unset, none are made',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting.secret({
    default: null,
    description: 'headers for the receiver, as `name=value,name=value`',
  }),
} as const

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]
    }),
  )

/** A tracer where one is configured; without, nothing of it is loaded. */
export const openTracer = async (
  config: Config<typeof tracingSettings>,
  { service, log }: { service: string; log: Logger },
): Promise<Tracer | null> => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = config
  if (endpoint === null) return null
  const { createTracer } = await import('./tracer.ts')
  return createTracer({ service, endpoint, headers: headers === null ? {} : headersOf(headers.expose()), log })
}
