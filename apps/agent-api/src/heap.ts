import { setFlagsFromString } from 'node:v8'

/**
 * Lets the heap grow to two and a half times of what is alive before it is collected. V8 decides between 1.1 and 4 by what
 * it saw, and chose to collect a small heap for every few large bodies, for more time than was spent on the bodies.
 */
export const growHeapInLargeSteps = (): void => setFlagsFromString('--heap-growing-percent=150')
