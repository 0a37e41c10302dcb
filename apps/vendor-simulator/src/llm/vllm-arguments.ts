import { z } from 'zod'
import { integer, jsonObject, optional } from '../fields.ts'

const INTEGERS =
  'max_model_len max_num_seqs pipeline_parallel_size tensor_parallel_size max_num_batched_tokens seed ' +
  'max_seq_len_to_capture block_size num_gpu_blocks_override'
const TEXTS =
  'quantization chat_template tool_call_parser load_format config_format tokenizer_mode limit_mm_per_prompt tokenizer ' +
  'dtype revision code_revision tokenizer_revision quantization_param_path served_model_name cache_dtype attention_backend'
const FLAGS =
  'enforce_eager trust_remote_code disable_log_requests enable_auto_tool_choice disable_sliding_window ' +
  'skip_tokenizer_init enable_prefix_caching'
const NUMBERS = 'gpu_memory_utilization swap_space max_gpu_memory_utilization'
const OBJECTS = 'rope_scaling override_neuron_config mm_processor_kwargs'

const fields = <S extends z.ZodType>(names: string, schema: S) =>
  Object.fromEntries(names.split(' ').map((name) => [name, optional(schema)]))

/** What a body may say to vLLM itself; whatever else it says, the vendor ignores. */
export const vllmArguments = {
  ...fields(INTEGERS, integer()),
  ...fields(TEXTS, z.string()),
  ...fields(FLAGS, z.boolean()),
  ...fields(NUMBERS, z.number()),
  ...fields(OBJECTS, jsonObject),
}

/** Those of them that a body gives. */
export const givenArguments = (body: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([key, value]) => Object.hasOwn(vllmArguments, key) && value !== null))
