import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commonHeaders } from './answer.ts'
import { ApiError } from './api-error.ts'
import type { RouteHandler } from './routing.ts'

/** The files of the reference viewer, which an app's bundle carries in `docs/` beside itself. */
export const DOCS_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'] as const

const TYPES: Record<string, string> = { css: 'text/css', html: 'text/html; charset=utf-8', js: 'text/javascript' }

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The directory of {@link DOCS_FILES}: `docs/` beside the bundle when it is there, else the installed package. */
export const docsAssets = (): string => {
  const bundled = fileURLToPath(new URL('docs/', import.meta.url))
  return existsSync(bundled) ? bundled : dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))
}

const page = (name: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="data:,">
    <title>${name}</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="reference"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`

const START = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#reference', deepLinking: true, tryItOutEnabled: true })\n`

/** `/docs` and its files: the API reference, from this origin alone. */
export const docsPages = (name: string, directory: string | undefined) => {
  const answer = (file: string, body: string | Uint8Array<ArrayBuffer>): RouteHandler => {
    return ({ env }) => {
      const headers = {
        ...commonHeaders(env),
        'content-type': TYPES[file.split('.').at(-1)!]!,
        'content-security-policy': POLICY,
      }
      return new Response(body, { headers: { ...headers, 'cache-control': 'no-cache' } })
    }
  }

  const fromDisk: RouteHandler = async (c) => {
    const file = DOCS_FILES.find((known) => c.env.path === `/docs/${known}`)
    if (!file) throw new ApiError('unknown_path')
    return await answer(file, await readFile(join(directory ?? docsAssets(), file)))(c)
  }

  return { index: answer('index.html', page(name)), start: answer('start.js', START), file: fromDisk }
}
