import { isInOrder, type SpanBatchResult } from '@keelson/contracts/agent'
import { ApiError } from '@keelson/service-kit'
import { PAYLOADS, type SpanPatch, type WrittenSpan } from './span-row.ts'

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.code === 'not_found'

/** What both say; the later one wins. */
const folded = (earlier: SpanPatch, later: SpanPatch): SpanPatch => ({
  ...earlier,
  ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)),
})

/** Another item's span, of which an answer holds the payloads once. */
const asAnswered = ({ span, omitted = [] }: SpanBatchResult): Pick<SpanBatchResult, 'span' | 'omitted'> => {
  if (span === null) return { span }
  const left = [...omitted, ...PAYLOADS.filter((field) => span[field] !== null)]
  return { span: { ...span, input: null, output: null, data: null }, ...(left.length > 0 && { omitted: left }) }
}

/**
 * Folds the items of a batch that say something of a span which is not there yet, and do not say enough to make it, into
 * a later item that makes it.
 */
export const foldPuts = () => {
  const waiting = new Map<string, SpanPatch>()
  const made = new Set<string>()

  return {
    /** Writes what an item and those before it say; alone, where together they would end before they start. */
    write: async (patch: SpanPatch, put: (patch: SpanPatch) => Promise<WrittenSpan>): Promise<WrittenSpan> => {
      const { id } = patch
      const earlier = waiting.get(id)
      const together = earlier ? folded(earlier, patch) : patch
      const whole = isInOrder(together) ? together : patch
      try {
        const span = await put(whole)
        if (earlier && whole === together) made.add(id)
        waiting.delete(id)
        return span
      } catch (error) {
        if (isMissing(error) && whole === together) waiting.set(id, together)
        throw error
      }
    },
    /** The results, in which items that were folded succeed with the span they helped to make. */
    settled: (results: readonly SpanBatchResult[]): SpanBatchResult[] => {
      const last = new Map(results.filter(({ status }) => status === 200).map((result) => [result.id, result]))
      return results.map((result) => {
        const later = result.id !== null && made.has(result.id) ? last.get(result.id) : undefined
        if (result.status !== 404 || !later) return result
        return { ...result, status: 200, problem: null, ...asAnswered(later) }
      })
    },
  }
}
