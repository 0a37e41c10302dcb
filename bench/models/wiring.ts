import { plainMessages, postgresMessages } from './messages.ts'
import { openWire, type Trap, type Wire } from './wire.ts'

export const PROCESSES = ['platform-api', 'deployer', 'second deployer'] as const
export type ProcessName = (typeof PROCESSES)[number]
/** Who talks to whom over a wire. */
export type Link = { from: ProcessName; to: 'postgres' | 'redis' | 'vendor' }
/** A trap whose handler is told where it was sprung. */
export type LinkTrap = Omit<Trap, 'spring'> & { spring: (link: Link) => ReturnType<Trap['spring']> }

/** The wires between all processes of a stack. */
export const wiring = (stack: AsyncDisposableStack) => {
  const wires: (Link & { wire: Wire })[] = []
  return {
    open: async (from: ProcessName, to: Link['to'], port: number): Promise<number> => {
      const wire = stack.use(await openWire(port, to === 'postgres' ? postgresMessages : plainMessages))
      wires.push({ from, to, wire })
      return wire.port
    },
    /** The first message on any of these wires that springs the trap is the only one. @returns how to take it away */
    setTrap: (isChosen: (link: Link) => boolean, trap: LinkTrap): (() => void) => {
      const chosen = wires.filter(isChosen)
      const clear = () => chosen.forEach(({ wire }) => wire.set(null))
      for (const link of chosen) {
        const spring = () => {
          clear()
          return trap.spring(link)
        }
        link.wire.set({ ...trap, spring })
      }
      return clear
    },
  }
}

export type Wiring = ReturnType<typeof wiring>
