#!/usr/bin/env bash
# Runs tests from end to end under other versions of Node than this one: other-nodes.sh DIRECTORY VERSION
# Gets that version's binary from npm into DIRECTORY, unless it is there, and ends with the counts of `npm test`.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$1 version=$2
case $(uname -m) in
x86_64) arch=x64 ;;
aarch64) arch=arm64 ;;
*) echo "There is no Node for $(uname -m) in npm" >&2 && exit 1 ;;
esac

node=$place/$version/bin
if ! [ -x "$node/node" ]; then
  mkdir -p "$place/$version"
  (cd "$place" && npm pack --silent "node-linux-$arch@$version" >/dev/null)
  tar -xzf "$place/node-linux-$arch-$version.tgz" -C "$place/$version" --strip-components=1
fi
# What a run needs of Node: starting, processes, terminals, sockets that are handed over, names, keys, a package.
files=(test/core test/policy test/launch test/library test/backends/local test/observe/memory.test.ts)
for name in backends bundle config-protection environment exec exit-codes lifetime limits mcp modes package places record signals start stdio terminal; do
  files+=("test/e2e/$name.test.ts")
done
for name in brokered doors inject names serving; do files+=("test/egress/sandboxed/$name.test.ts"); done
export PATH="$node:$PATH"
exec node scripts/test.mjs "${files[@]}"
