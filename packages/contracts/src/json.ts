export * from './json-token.ts'
export { parseJson, readJson } from './parse-json.ts'
