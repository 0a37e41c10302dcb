import { pgSchema } from 'drizzle-orm/pg-core'

export const platform = pgSchema('platform')
