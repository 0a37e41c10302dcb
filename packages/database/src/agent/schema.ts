import { pgSchema } from 'drizzle-orm/pg-core'

export const agent = pgSchema('agent')
