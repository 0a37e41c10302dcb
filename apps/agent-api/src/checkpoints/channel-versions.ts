import { jsonTextOf, JsonText } from '@keelson/contracts'
import { readJson } from '@keelson/contracts/json'

type Versions = { channels: string[]; versions: string[] }
/** Numbers as the text they were sent with, so that `1.0` stays what its blob was put with. */
const withNumbersAsText = (text: string): unknown =>
  readJson(text, (source): unknown => (/^[-\d]/.test(source) ? source : JSON.parse(source)))

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

const versionsIn = (checkpoint: unknown): [string, unknown][] => {
  const versions = (checkpoint as { channel_versions?: unknown }).channel_versions
  return typeof versions === 'object' && versions !== null ? Object.entries(versions) : []
}

/** The channels of a checkpoint with the text of their versions; those that no blob can have are left out. */
export const channelVersions = (checkpoint: unknown): Versions => {
  const plain = checkpoint instanceof JsonText ? checkpoint.value : checkpoint
  const hasNumbers = versionsIn(plain).some(([, version]) => typeof version === 'number')
  const entries = versionsIn(hasNumbers ? withNumbersAsText(jsonTextOf(checkpoint)) : plain)
  const named = entries.filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && isStorable(entry[0]) && isStorable(entry[1]),
  )
  return { channels: named.map(([channel]) => channel), versions: named.map(([, version]) => version) }
}
