import type { z } from 'zod'

/** By what a custom schema is known: its check survives `.openapi()`, `.describe()` and `.refine()`, which clone it. */
export const checkOf = (schema: z.core.$ZodType): unknown => (schema._zod.def as { fn?: unknown }).fn
