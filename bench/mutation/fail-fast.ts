import { configureGlobal } from 'fast-check'

// That a property fails is all there is to know of a mutant; the smallest example would take much longer.
configureGlobal({ endOnFailure: true })
