import { z } from '@hono/zod-openapi'
import { Base64 } from '../base64.ts'
import { FreeFormValue, plainValue } from '../free-form.ts'
import { given, givenOr } from '../given.ts'
import { JsonText } from '../json-text.ts'
import { textWithin } from '../text.ts'

export const ThreadId = textWithin(255, 1).openapi({ example: 'thread-7' })
export const CheckpointId = textWithin(255, 1).openapi({
  description: 'Sorts by age as text',
  example: '1f0c6a51-9b1a-6d5e-8001-7c3f2e9d4b10',
})
export const CheckpointNs = textWithin(1000)
export const Channel = textWithin(512).openapi({ example: 'messages' })
const Version = textWithin(255)

export const checkpointNs = givenOr(CheckpointNs, '').openapi({
  description: 'The namespace; empty for the root graph',
})

/** Absent, `null` and the empty text all mean that none is named: clients that exist send each of them. */
const idOrNone = z.preprocess(
  (value: string | null | undefined) => (value === '' ? undefined : value),
  given(textWithin(255)),
)

export const latestOr = idOrNone.openapi({
  description: 'The latest when left out, `null` or empty',
  example: '1f0c6a51-9b1a-6d5e-8001-7c3f2e9d4b10',
})

export const parentOrNone = idOrNone.openapi({
  description: 'Where it comes from, kept from the first put; nowhere when left out, `null` or empty',
})

export const INCLUDES = ['blobs', 'pending_writes', 'parent_pending_sends'] as const

/** The text of a version: a number keeps the digits it was sent with, so that it matches `channel_versions`. */
const versionText = (value: unknown): string =>
  value instanceof JsonText && typeof value.value !== 'string' ? value.text : String(plainValue(value))

const isVersion = (value: unknown): boolean => ['string', 'number'].includes(typeof plainValue(value))

/** A channel's version, a text or a number; stored as text. */
export const ChannelVersion = FreeFormValue.refine(isVersion, { error: 'expected a string or a number' })
  .transform((value, ctx) => {
    const { data, error } = Version.safeParse(versionText(value))
    if (error) ctx.addIssue({ code: 'custom', message: error.issues[0]?.message ?? 'is not valid' })
    return data ?? z.NEVER
  })
  .openapi({
    type: ['string', 'number'],
    description: 'The version of the channel',
    example: '00000000000000000000000000000002.0.52',
  })

const typeTag = textWithin(255)

export const NewCheckpointBlob = z
  .object({
    channel: Channel,
    version: ChannelVersion,
    type: typeTag.openapi({ description: 'How the client serialised the value; opaque', example: 'json' }),
    blob: given(Base64).openapi({ description: 'The value; absent or `null` for none' }),
  })
  .openapi('NewCheckpointBlob', { description: 'The value of a channel; written once for each version' })

const INT4 = 2_147_483_647
/** A task that a task calls has the whole path of its caller in its own. */
const MAX_TASK_PATH_BYTES = 16_384

export const NewCheckpointWrite = z
  .object({
    task_id: textWithin(255).openapi({ example: 'e9a1f0d2-1c5b-5d0c-9d53-0f6f3b6a7c11' }),
    idx: z
      .int()
      .min(-INT4 - 1)
      .max(INT4)
      .openapi({ description: 'Negative for the special channels', example: 0 }),
    channel: Channel,
    type: given(typeTag).openapi({ description: 'How the client serialised the value; opaque', example: 'json' }),
    blob: Base64,
    task_path: givenOr(textWithin(MAX_TASK_PATH_BYTES), '').openapi({
      description: 'The path of the task in the graph; writes are answered in its order',
    }),
  })
  .openapi('NewCheckpointWrite', { description: 'What a task wrote before its step was done' })
