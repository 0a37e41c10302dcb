#!/bin/sh
# Stand-ins, made of Debian packages and the npm package of Node, for the two bases that infra/Dockerfile names; for
# machines without a container registry. Usage: container-bases.sh DIRECTORY
set -eu
work=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
node=$("$root/node_modules/.bin/node" -p process.execPath)
buildah() { command buildah --root "$work/store" --runroot "$work/run" --storage-driver overlay "$@"; }

has_image() { buildah inspect --type image "$1" >/dev/null 2>&1; }

build_base() {
  rootfs=$work/rootfs
  [ -d "$rootfs/usr" ] || debootstrap --variant=minbase --include=ca-certificates,libstdc++6,libatomic1 bookworm "$rootfs" >/dev/null
  rm -rf "$rootfs"/var/cache/apt/* "$rootfs"/var/lib/apt/lists/*
  cp "$node" "$rootfs/usr/local/bin/node"
  mkdir -p "$rootfs/usr/local/lib/node_modules"
  npm_cli=$(readlink -f "$(command -v npm)")
  cp -r "${npm_cli%/bin/npm-cli.js}" "$rootfs/usr/local/lib/node_modules/"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$rootfs/usr/local/bin/npm"
  # Whatever authority this machine trusts for its registry.
  cp /etc/ssl/certs/ca-certificates.crt "$rootfs/etc/ssl/certs/ca-certificates.crt"
  echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >"$rootfs/root/.npmrc"
  tar -C "$rootfs" -cf "$work/build-base.tar" .
  printf 'FROM scratch\nADD build-base.tar /\nENV PATH=/usr/local/bin:/usr/bin:/bin NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt\n' >"$work/Dockerfile.build"
  buildah bud --isolation chroot --pull-never -f "$work/Dockerfile.build" -t docker.io/library/node:24-bookworm-slim "$work"
}

# As distroless images are: node, the libraries it is linked with, certificates, one user; nothing else.
runtime_base() {
  rootfs=$work/runtime
  mkdir -p "$rootfs/nodejs/bin" "$rootfs/etc/ssl/certs" "$rootfs/tmp" "$rootfs/home/nonroot"
  chmod 1777 "$rootfs/tmp"
  cp "$node" "$rootfs/nodejs/bin/node"
  for library in $(ldd "$node" | grep -o '/[^ ]*'); do
    mkdir -p "$rootfs$(dirname "$library")"
    cp -L "$library" "$rootfs$library"
  done
  cp /etc/ssl/certs/ca-certificates.crt "$rootfs/etc/ssl/certs/"
  printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$rootfs/etc/passwd"
  tar -C "$rootfs" -cf "$work/runtime-base.tar" .
  printf 'FROM scratch\nADD runtime-base.tar /\nUSER 65532:65532\n' >"$work/Dockerfile.runtime"
  buildah bud --isolation chroot --pull-never -f "$work/Dockerfile.runtime" -t gcr.io/distroless/nodejs24-debian13:nonroot "$work"
}

has_image docker.io/library/node:24-bookworm-slim || build_base
has_image gcr.io/distroless/nodejs24-debian13:nonroot || runtime_base
