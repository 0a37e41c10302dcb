import { checkpoints } from './checkpoints/suite.ts'
import { credentials } from './credentials/suite.ts'
import type { Suite } from './harness/bench.ts'
import { models } from './models/suite.ts'
import { overloadSuite as overload } from './overload/suite.ts'
import { spans } from './spans/suite.ts'
import { startup } from './startup/suite.ts'
import { webhooks } from './webhooks/suite.ts'

/** What `pnpm bench` runs, by the names it takes. */
export const areas: Record<string, Suite> = { credentials, models, spans, checkpoints, webhooks, startup, overload }
