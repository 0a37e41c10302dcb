import { withPrevious, type ConfiguredKeyProvider } from '../key-provider.ts'
import { awsKmsProvider } from './aws-kms.ts'
import { gcpKmsProvider } from './gcp-kms.ts'
import { readKeyFile } from './key-file.ts'
import { localProvider } from './local.ts'
import { parseKeys } from './local-keys.ts'
import type { KeyProviderConfig, KeyProviderSettings } from './settings.ts'
import { vaultTransitProvider } from './vault-transit.ts'

const providerFor = async (settings: KeyProviderSettings): Promise<ConfiguredKeyProvider> => {
  if (settings.provider === 'file') return localProvider(await readKeyFile(settings.path))
  if (settings.provider === 'environment') return localProvider(parseKeys(settings.keys, 'KEY_ENCRYPTION_KEYS'))
  if (settings.provider === 'aws-kms') return awsKmsProvider(settings)
  if (settings.provider === 'gcp-kms') return gcpKmsProvider(settings)
  return vaultTransitProvider(settings)
}

/**
 * The configured key provider. Reads key files and opens no connection: call `selfTest` to prove that it works.
 *
 * @throws KeyConfigurationError when settings or key file cannot be used
 */
export const keyProvider = async (config: KeyProviderConfig): Promise<ConfiguredKeyProvider> =>
  withPrevious(await providerFor(config), await Promise.all((config.former ?? []).map(providerFor)))
