import { MemorySaver, type SerializerProtocol } from '@langchain/langgraph-checkpoint'

/**
 * LangGraph's own serialiser, whatever the saver's `serde` is: what the service reads as JSON has to stay JSON. Version
 * 1.1 does not export its class, so a saver that uses it by default lends it.
 */
export const LANGGRAPH_JSON: SerializerProtocol = new MemorySaver().serde
