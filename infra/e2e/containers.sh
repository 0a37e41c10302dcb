#!/bin/sh
# Builds every image from infra/Dockerfile and runs them for real, without Docker and without a registry: Debian's
# buildah and podman. `pnpm containers:test`; needs root. Everything it makes stays below KEELSON_CONTAINERS.
set -eu
cd "$(dirname "$0")/../.."
work=${KEELSON_CONTAINERS:-/var/tmp/keelson-containers}
mkdir -p "$work"

missing=''
for tool in buildah podman runc debootstrap; do command -v "$tool" >/dev/null || missing="$missing $tool"; done
if [ -n "$missing" ]; then
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
fi

sh infra/e2e/container-bases.sh "$work"

# A copy, so that work in the tree meanwhile does not make the images differ.
rm -rf "$work/context" && mkdir "$work/context"
git ls-files -co --exclude-standard -z | tar --null --files-from=- --ignore-failed-read -cf - | tar -xf - -C "$work/context"

for app in platform-api agent-api deployer vendor-simulator operator; do
  buildah --root "$work/store" --runroot "$work/run" --storage-driver overlay \
    bud --isolation chroot --network host --pull-never --format docker --layers \
    --build-arg "APP=$app" -f infra/Dockerfile -t "keelson/$app:dev" "$work/context"
done

KEELSON_CONTAINERS="$work" exec pnpm exec vitest run --project e2e infra/e2e/containers.test.ts
