import { isPortFree } from './free-port.ts'
import { portVariable, UsageError } from './options.ts'
import { METRICS_OFFSET, SERVICES, type ServiceName } from './services.ts'

/** @throws UsageError naming every taken port, whose it is, and how to choose another */
export const checkPorts = async (port: Record<ServiceName, number>) => {
  const wanted = SERVICES.flatMap(({ name }) => [
    { name, what: name, number: port[name] },
    { name, what: `the metrics of ${name}`, number: port[name] + METRICS_OFFSET },
  ])
  const taken = await Promise.all(wanted.map(async (one) => ((await isPortFree(one.number)) ? [] : [one])))
  const lines = taken
    .flat()
    .map(
      ({ name, what, number }) =>
        `Port ${number} for ${what} is already in use: stop what uses it, or choose another with --${name}-port (${portVariable(name)})`,
    )
  if (lines.length > 0) throw new UsageError(lines.join('\n'))
}
