import type { Database } from '@keelson/database'
import { notFound } from '@keelson/service-kit'
import { listPage, type ListQuery, type Page } from '../list-page.ts'
import { DEPLOYMENT_COLUMNS, MODEL_COLUMNS, type DeploymentRow, type ModelRow } from './model-row.ts'

export type ModelQuery = ListQuery & { name?: string | undefined; model_vendor?: string | undefined }

/** The models of one account, for readers. */
export const modelStore = ({ sql }: Pick<Database, 'sql'>, account_id: string) => ({
  async get(id: string): Promise<ModelRow> {
    const [row] = await sql<ModelRow[]>`
      select ${sql(MODEL_COLUMNS)} from platform.models where account_id = ${account_id} and id = ${id}`
    return row ?? notFound('model')
  },

  list({ name, model_vendor, ...query }: ModelQuery): Promise<Page<ModelRow>> {
    const where = sql`account_id = ${account_id}
      ${model_vendor === undefined ? sql`` : sql`and model_vendor = ${model_vendor}`}`
    const source = { table: 'platform.models', columns: MODEL_COLUMNS, name, where, account_id, idPrefix: 'model' }
    return listPage(sql, source, query)
  },

  /** The history of a model, newest first unless asked otherwise. */
  async listDeployments(model_id: string, query: ListQuery): Promise<Page<DeploymentRow>> {
    const where = sql`account_id = ${account_id} and model_id = ${model_id}`
    const source = { table: 'platform.deployments', columns: DEPLOYMENT_COLUMNS, where, account_id, idPrefix: 'deploy' }
    const page = await listPage<DeploymentRow>(sql, source, query)
    if (page.total === 0) await this.get(model_id)
    return page
  },
})
