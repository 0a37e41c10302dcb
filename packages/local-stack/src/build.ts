import { spawn } from 'node:child_process'
import { join } from 'node:path'

/**
 * Builds every app's bundle through turbo, which skips what has not changed.
 *
 * @throws with turbo's output when a build fails; the signal's reason when it fires first
 */
export const buildApps = (root: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
    const args = ['run', 'build', '--output-logs=errors-only', '--no-color', '--no-update-notifier']
    const turbo = join(root, 'node_modules', '.bin', 'turbo')
    // A group of its own: turbo leaves its children running when it alone is told to stop.
    const child = spawn(turbo, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const stop = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
    }
    signal.addEventListener('abort', stop)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
    child.once('error', reject)
    child.once('close', (code) => {
      signal.removeEventListener('abort', stop)
      if (signal.aborted) reject(signal.reason)
      else if (code === 0) resolve()
      else reject(new Error(`the build failed:\n${said}`))
    })
  })
