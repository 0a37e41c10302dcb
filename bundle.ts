import { join } from 'node:path'
import { bundleApp } from './bundle-app.ts'

// Called in the app's folder by its build script.
const app = process.cwd()
await bundleApp(app, join(app, 'dist'))
