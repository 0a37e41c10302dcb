import { z } from '@hono/zod-openapi'
import { digitsOr } from './digits.ts'
import { Id } from './text.ts'

type ListQuery = { starting_after?: string | undefined; ending_before?: string | undefined }

const isOneCursor = (query: ListQuery): boolean => !query.starting_after || !query.ending_before

/** The query of a list that is paged by item ids; `filters` are the query parameters of its own. */
export const listQuery = <SortBy extends [string, ...string[]], Filters extends z.ZodRawShape>(
  sortBy: SortBy,
  filters: Filters,
) =>
  z
    .object({
      ...filters,
      limit: digitsOr(100, { minimum: 1, maximum: 10_000 }).openapi({ description: 'The most items to return' }),
      starting_after: Id.optional().openapi({ description: 'An item id: the page begins with the item after it' }),
      ending_before: Id.optional().openapi({ description: 'An item id: the page ends with the item before it' }),
      sort_by: z
        .enum(sortBy)
        .default('created_at' as SortBy[number])
        .openapi({ description: 'The field to sort by; ties by id' }),
      sort_order: z.enum(['asc', 'desc']).default('desc'),
    })
    .refine((query) => isOneCursor(query as ListQuery), {
      error: 'starting_after and ending_before exclude each other',
      path: ['ending_before'],
    })

/** A page of a list. */
export const listOf = <Item extends z.ZodType>(name: string, item: Item) =>
  z
    .object({
      items: z.array(item),
      has_more: z.boolean().openapi({ description: 'Whether more items follow in the direction of travel' }),
      total: z.int().min(0).openapi({ description: 'How many items match, whatever the page', example: 1 }),
      limit: z.int().min(1).optional().openapi({ description: 'The most items this page could hold', example: 100 }),
      object: z.literal('list').optional(),
    })
    .openapi(name)
