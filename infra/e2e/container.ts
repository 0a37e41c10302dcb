import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { eventually } from '@keelson/testing'

const run = promisify(execFile)

/** Where infra/e2e/containers.sh keeps images; empty when it did not start this run. */
export const WORK = process.env['KEELSON_CONTAINERS'] ?? ''

const STORE = ['--root', `${WORK}/store`, '--runroot', `${WORK}/run`, '--storage-driver', 'overlay']
const PODMAN = [...STORE, '--runtime', '/usr/sbin/runc', '--cgroup-manager', 'cgroupfs']
// As in infra/compose.yaml; the limits on files and processes are for machines that may not raise them.
const HARDENED =
  '--network host --pull=never --no-healthcheck --read-only --cap-drop=all --security-opt no-new-privileges ' +
  '--tmpfs /tmp:size=16m,mode=1777 --ulimit nofile=1024:1024 --ulimit nproc=1024:1024'

const environmentFlags = (env: Record<string, string>) =>
  Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])

export type ContainerOptions = { env: Record<string, string>; keyFile?: string; command?: readonly string[] }

/** What a service is run from, where that is not its own image and the image's own command. */
const RUN_AS: Record<string, { image: string; command: readonly string[] }> = {
  'webhook-worker': { image: 'agent-api', command: ['webhook-worker.js'] },
}

const argumentsOf = (app: string, { env, keyFile, command = RUN_AS[app]?.command ?? [] }: ContainerOptions) => [
  ...environmentFlags(env),
  ...(keyFile === undefined ? [] : ['--volume', `${keyFile}:/run/secrets/key-encryption-keys:ro`]),
  `keelson/${RUN_AS[app]?.image ?? app}:dev`,
  ...command,
]

const podman = (...args: string[]) => run('podman', [...PODMAN, ...args]).then(({ stdout }) => stdout.trim())

/** Runs a container to its end and returns what it printed. */
export const runOnce = (app: string, options: ContainerOptions) =>
  podman('run', '--rm', ...HARDENED.split(' '), ...argumentsOf(app, options))

/** Bytes of an image above its base: the layers that infra/Dockerfile adds. */
export const sizeAboveBase = async (app: string): Promise<number> => {
  const size = async (image: string) => Number(await podman('image', 'inspect', '--format', '{{.Size}}', image))
  return (await size(`keelson/${app}:dev`)) - (await size('gcr.io/distroless/nodejs24-debian13:nonroot'))
}

/** Every path in an image, as its final file system has it. */
export const filesOf = async (app: string): Promise<string[]> => {
  const mounted = await podman('image', 'mount', `keelson/${app}:dev`)
  const { stdout } = await run('find', [mounted, '-not', '-type', 'd', '-printf', '/%P\\n'])
  await podman('image', 'umount', `keelson/${app}:dev`)
  return stdout.trim().split('\n')
}

export type Container = {
  id: string
  /** From the start of the container until `/readyz` said 200. */
  readyMs: number
  rssBytes: () => Promise<number>
  logs: () => Promise<string>
  /** Sends SIGTERM; the exit code, and how long it took. */
  stop: () => Promise<{ code: number; stopMs: number }>
}

const rssOf = async (pid: string) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** Ends a container at once, should it still be there. */
export const removeContainer = (id: string) => podman('rm', '--force', '--ignore', id)

/** Starts a hardened container and waits until it is ready. */
export const startContainer = async (app: string, port: number, options: ContainerOptions): Promise<Container> => {
  const id = await podman('create', ...HARDENED.split(' '), ...argumentsOf(app, options))
  const startedAt = performance.now()
  spawn('podman', [...PODMAN, 'start', id], { stdio: 'ignore' })
  const logs = () => run('podman', [...PODMAN, 'logs', id]).then(({ stdout, stderr }) => stdout + stderr)
  await eventually(
    async () => {
      if (!(await fetch(`http://127.0.0.1:${port}/readyz`)).ok) throw new Error(`${app} is not ready`)
    },
    { deadlineMs: 30_000 },
  ).catch(async (error: unknown) => {
    throw new Error(`${app} did not become ready:\n${await logs()}`, { cause: error })
  })
  const readyMs = performance.now() - startedAt
  const pid = await podman('inspect', '--format', '{{.State.Pid}}', id)
  const stop = async () => {
    const from = performance.now()
    await podman('stop', '--time', '30', id)
    const stopMs = performance.now() - from
    const code = Number(await podman('inspect', '--format', '{{.State.ExitCode}}', id))
    await podman('rm', id)
    return { code, stopMs }
  }
  return { id, readyMs, rssBytes: () => rssOf(pid), logs, stop }
}
