import { expect, test } from 'vitest'
import { z } from 'zod'
import { shapeOf } from './json-shape.ts'
import { fieldProblems } from './zod-issues.ts'

const schema = z.object({ after: z.union([z.object({ id: z.string(), at: z.string() }), z.string()]) })

test.each([
  [5, [{ path: 'after', message: 'expected object or string' }]],
  [undefined, [{ path: 'after', message: 'expected object or string' }]],
  [{ id: 'a' }, [{ path: 'after.at', message: 'expected string, received undefined' }]],
])(
  'what is none of a union is told by the types that would do, or by what the closest one lacks: %j',
  (after, told) => {
    const { error } = schema.safeParse({ after })
    expect(fieldProblems(error?.issues ?? [], shapeOf(schema))).toEqual(told)
  },
)
