import { writeJson } from '@keelson/contracts'
import {
  isOfLaunch,
  isOfLlmEngine,
  launchChangeProblems,
  launchProblems,
  LaunchVendorConfiguration,
  llmEngineChangeProblems,
  llmEngineProblems,
  LlmEngineVendorConfiguration,
  type CreateModelRequest,
  type PartialVendorConfiguration,
  type RuleProblem,
} from '@keelson/contracts/platform'
import { ApiError, storedJson } from '@keelson/service-kit'
import { mergeFields } from './merge-fields.ts'
import type { ModelRow } from './model-row.ts'

const readLaunch = storedJson(LaunchVendorConfiguration)
const readLlmEngine = storedJson(LlmEngineVendorConfiguration)

const mismatch = (vendor: string): never => {
  throw new ApiError('vendor_mismatch', `The configuration is not one for the vendor ${vendor}`, {
    errors: [{ path: 'vendor_configuration', message: `does not match the vendor ${vendor}` }],
  })
}

const refuse = (problems: RuleProblem[]): void => {
  if (problems.length === 0) return
  const errors = problems.map(({ path, message }) => ({
    path: ['vendor_configuration', ...path].join('.'),
    message,
  }))
  throw new ApiError('invalid_request', 'The configuration cannot become that of this model', { errors })
}

/**
 * The stored configuration with a partial one merged in.
 *
 * @throws ApiError `vendor_mismatch`, `invalid_request` where the vendor would refuse the result or the change
 */
export const mergedConfiguration = (
  { model_vendor, vendor_configuration }: ModelRow,
  partial: PartialVendorConfiguration,
): string => {
  if (model_vendor === 'launch' && isOfLaunch(partial)) {
    const before = readLaunch(vendor_configuration ?? '')
    const after = {
      model_image: mergeFields(before.model_image, partial.model_image),
      model_infra: mergeFields(before.model_infra, partial.model_infra),
    }
    refuse([...launchProblems(after), ...launchChangeProblems(before, after)])
    return writeJson(after)
  }
  if (model_vendor === 'llmengine' && isOfLlmEngine(partial)) {
    const before = readLlmEngine(vendor_configuration ?? '')
    const after = mergeFields(before, partial)
    refuse([...llmEngineProblems(after), ...llmEngineChangeProblems(before, after)])
    return writeJson(after)
  }
  return mismatch(model_vendor)
}

/**
 * A whole configuration in place of the stored one; the request's own schema has found it good in itself.
 *
 * @throws ApiError `invalid_request` where the vendor would refuse the change
 */
export const replacedConfiguration = ({ vendor_configuration }: ModelRow, body: CreateModelRequest): string => {
  const stored = vendor_configuration ?? ''
  if (body.model_vendor === 'launch') refuse(launchChangeProblems(readLaunch(stored), body.vendor_configuration))
  if (body.model_vendor === 'llmengine')
    refuse(llmEngineChangeProblems(readLlmEngine(stored), body.vendor_configuration))
  return writeJson(body.vendor_configuration)
}
