import { Hono, type Context } from 'hono'
import { z, ZodError } from 'zod'
import { Fault } from '../faults.ts'
import { Profile } from '../profile.ts'
import { SettingsPatch } from '../settings.ts'
import { ControlError, type Control } from './control.ts'

const JournalQuery = z.object({
  operation: z.string().optional(),
  endpoint: z.string().optional(),
  since: z.coerce.number().optional(),
  limit: z.coerce.number().optional(),
})
const Assignment = z.strictObject({ endpoint: z.string().default('*'), profile: z.string() })
const Orphans = z.strictObject({ expected: z.array(z.string()) })
const Secret = z.strictObject({ value: z.string().min(4) })
const Workers = z.strictObject({ workers: z.int().min(0).nullable() })
const Advance = z.strictObject({ ms: z.number().min(0) })
const Reset = z.strictObject({ seed: z.union([z.string(), z.number()]).optional() })

const bodyOf = async <S extends z.ZodType>(c: Context, schema: S): Promise<z.infer<S>> => {
  const text = await c.req.text()
  return schema.parse(text === '' ? {} : JSON.parse(text))
}

const done = (c: Context) => c.body(null, 204)
const found = (c: Context, was: boolean) => (was ? done(c) : c.json({ error: 'There is no such thing' }, 404))

const endpointRoutes = (app: Hono, control: Control) => {
  app.get('/endpoints', (c) => c.json({ endpoints: control.endpoints() }))
  app.get('/endpoints/:name', (c) => {
    const endpoint = control.endpoint(c.req.param('name'))
    return endpoint ? c.json(endpoint) : found(c, false)
  })
  app.delete('/endpoints/:name', (c) => found(c, control.vanish(c.req.param('name'))))
  app.put('/endpoints/:name/workers', async (c) => {
    const { workers } = await bodyOf(c, Workers)
    return found(c, control.setWorkers(c.req.param('name'), workers))
  })
}

const faultRoutes = (app: Hono, control: Control) => {
  app.get('/faults', (c) => c.json({ faults: control.faults() }))
  app.post('/faults', async (c) => c.json({ id: control.addFault(await bodyOf(c, Fault)) }))
  app.delete('/faults', (c) => (control.clearFaults(), done(c)))
  app.delete('/faults/:id', (c) => found(c, control.removeFault(c.req.param('id'))))
}

const profileRoutes = (app: Hono, control: Control) => {
  app.get('/profiles', (c) => c.json({ profiles: control.profiles() }))
  app.put(
    '/profiles/:name',
    async (c) => (control.defineProfile(c.req.param('name'), await bodyOf(c, Profile)), done(c)),
  )
  app.get('/assignments', (c) => c.json({ assignments: control.assignments() }))
  app.post('/assignments', async (c) => (control.assign(await bodyOf(c, Assignment)), done(c)))
  app.delete('/assignments', (c) => (control.clearAssignments(), done(c)))
}

const checkRoutes = (app: Hono, control: Control) => {
  app.get('/journal', (c) => c.json({ entries: control.journal(JournalQuery.parse(c.req.query()) as object) }))
  app.delete('/journal', (c) => (control.clearJournal(), done(c)))
  app.get('/invariants', (c) => c.json({ violations: control.violations() }))
  app.post('/orphans', async (c) => c.json(control.orphans((await bodyOf(c, Orphans)).expected)))
  app.post('/secrets', async (c) => (control.watchSecret((await bodyOf(c, Secret)).value), done(c)))
}

/** The control API, to be mounted under `/__sim`. It asks for no key: it belongs on the loopback. */
export const controlRoutes = (control: Control): Hono => {
  const app = new Hono()
  app.get('/', (c) => c.json(control.summary()))
  endpointRoutes(app, control)
  faultRoutes(app, control)
  profileRoutes(app, control)
  checkRoutes(app, control)
  app.get('/settings', (c) => c.json(control.settings()))
  app.patch('/settings', async (c) => c.json(control.configure(await bodyOf(c, SettingsPatch))))
  app.post('/clock/advance', async (c) => (control.advance((await bodyOf(c, Advance)).ms), done(c)))
  app.post('/reset', async (c) => (control.reset((await bodyOf(c, Reset)) as object), done(c)))
  app.onError((error, c) => {
    if (error instanceof ZodError) return c.json({ error: 'The body is not right', issues: error.issues }, 422)
    if (error instanceof ControlError || error instanceof SyntaxError) return c.json({ error: error.message }, 422)
    return c.json({ error: 'The control API failed' }, 500)
  })
  return app
}
