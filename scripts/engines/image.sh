#!/usr/bin/env bash
# Makes the root file system that containers start from: the smallest system of a distribution that has Python 3.14, and
# Node's current LTS. Built twice from the same packages it has the same digest. No registry of images is asked, and no
# mirror is named: packages come from where this machine gets its own, of the suite below instead of the machine's, and
# are checked with the same keys. Node comes from npm and is compared with the digest below.
set -euo pipefail

DIR=${ASSAY_ENGINES_DIR:?'is set by npm run engines'}/image
NODE_VERSION=24.21.0
declare -A NODE_SHA512=(
  [x64]=3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==
  [arm64]=FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==
)
# Those whose python3 is 3.14.
DEBIAN_SUITE=forky
UBUNTU_SUITE=resolute
# Programs of gVisor's kernel do not all see what they expect (see docs/engines.md); these stand in for them there.
GVISOR_APPLETS='ls stat'
export SOURCE_DATE_EPOCH=1700000000
export LC_ALL=C

say() { echo "Engines: $*"; }
fail() {
  echo "Engines: $1" >&2
  echo "         $2" >&2
  exit 1
}

case $(uname -m) in
x86_64) arch=x64 debian_arch=amd64 ;;
aarch64) arch=arm64 debian_arch=arm64 ;;
*) fail "there is no image for $(uname -m)" 'Images are made for x86_64 and aarch64' ;;
esac

mkdir -p "$DIR"
exec 9>"$DIR/.lock"
if command -v flock >/dev/null; then flock 9; fi
key=$(sha256sum <"${BASH_SOURCE[0]}" | cut -d ' ' -f 1)
if [ -z "${ASSAY_ENGINES_REBUILD-}" ] && [ -s "$DIR/rootfs.tar" ] && [ "$(cat "$DIR/key" 2>/dev/null)" = "$key" ]; then
  say "the image is there ($(cut -c 1-19 "$DIR/digest"))"
  exit 0
fi

say 'building the image (Debian or Ubuntu, Python 3.14, Node): about a minute'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$work" && npm pack --silent "node-linux-$arch@$NODE_VERSION" >/dev/null) ||
  fail "cannot get node-linux-$arch@$NODE_VERSION from npm" 'Check that npm works: npm ping'
got=$(node -e 'const { createHash } = require("node:crypto"), { readFileSync } = require("node:fs");
  process.stdout.write(createHash("sha512").update(readFileSync(process.argv[1])).digest("base64"))' \
  "$work/node-linux-$arch-$NODE_VERSION.tgz")
[ "$got" = "${NODE_SHA512[$arch]}" ] ||
  fail "node-linux-$arch@$NODE_VERSION is not what it was" "Expected sha512-${NODE_SHA512[$arch]}, got sha512-$got"
tar -xzf "$work/node-linux-$arch-$NODE_VERSION.tgz" -C "$work" package/bin/node

# The distribution's own entries of this machine's sources, whatever files they are in: each with the same of the suite.
list_sources() {
  local entry='(deb [^ ]+) [^ -]+(-security|-updates)? '
  apt-get indextargets --format '$(ORIGIN)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' "Architecture: $debian_arch" |
    sed -nE "s/^Debian\|$entry/\1 $DEBIAN_SUITE\2 /p; s/^Ubuntu\|$entry/\1 $UBUNTU_SUITE\2 /p" | sort -u >"$work/sources"
}
list_sources
# Machines that are made from images often have no lists.
if ! [ -s "$work/sources" ] && [ "$(id -u)" = 0 ]; then
  apt-get update -q >"$DIR/build.log" 2>&1 || cat "$DIR/build.log" >&2
  list_sources
fi
[ -s "$work/sources" ] || fail 'apt has no packages of Debian or Ubuntu here' 'Run apt-get update, as root'
suite=$(sed -nE '1s/^deb [^ ]+ ([^ -]+).*/\1/p' "$work/sources")
# Signatures are always checked. Whether lists may be past their date is for this machine to say, as for its own.
eval "$(apt-config shell has_date Acquire::Check-Valid-Until/b)"

cat >"$work/finish" <<'HOOK'
set -eu
root=$1 applets=$2
chmod 755 "$root/usr/local/bin/node"
python=$(cd "$root/usr/lib" && echo python3.*)
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/var/cache/debconf/* "$root"/var/log/* \
  "$root"/usr/share/zoneinfo "$root/usr/lib/$python/test" "$root"/usr/share/perl5 "$root"/tmp/* "$root"/etc/machine-id \
  "$root"/etc/apt/apt.conf.d/99mmdebstrap
# By digest and unchecked: the same bytes whenever it is built, and nothing to look up on import.
chroot "$root" python3 -m compileall -q --invalidation-mode unchecked-hash "/usr/lib/$python"
mkdir -p "$root/workspace" "$root/usr/lib/assay/gvisor" "$root/run/assay/code"
chmod 777 "$root/workspace"
for applet in $applets; do ln -s /bin/busybox "$root/usr/lib/assay/gvisor/$applet"; done
: >"$root/usr/lib/assay/steward"
chmod 755 "$root/usr/lib/assay/steward"
echo 'sandbox:x:61000:61000::/workspace:/bin/sh' >>"$root/etc/passwd"
echo 'sandbox:x:61000:' >>"$root/etc/group"
echo sandbox >"$root/etc/hostname"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
: >"$root/etc/resolv.conf"
{
  echo "python $(chroot "$root" python3 -c 'import platform; print(platform.python_version())')"
  echo "javascript $(chroot "$root" node -p process.versions.node)"
  echo "bash $(chroot "$root" bash -c 'echo "${BASH_VERSION%%(*}"')"
} >"$3"
# setuid programs are of no use without the right to become somebody else
find "$root" -xdev -type f -perm /6000 -exec chmod ug-s {} +
HOOK

exclude() { printf -- "--dpkgopt=path-exclude=/usr/share/%s/* " "$@"; }
# shellcheck disable=SC2046 # a list of words
mmdebstrap --verbose --variant=minbase --include=python3-minimal,libpython3-stdlib,ca-certificates,libstdc++6,busybox-static \
  $(exclude man doc locale info lintian bash-completion) \
  --aptopt="Acquire::Check-Valid-Until \"${has_date:-true}\"" \
  --customize-hook="upload $work/package/bin/node /usr/local/bin/node" \
  --customize-hook="sh $work/finish \"\$1\" '$GVISOR_APPLETS' $work/versions" \
  "$suite" "$work/rootfs.tar" - <"$work/sources" >"$DIR/build.log" 2>&1 || {
  tail -n 20 "$DIR/build.log" >&2
  fail "cannot build the image from $suite" "The log is $DIR/build.log. Where this machine gets its packages there has to be \
$suite; an ordinary user needs entries in /etc/subuid and /etc/subgid"
}

mv "$work/rootfs.tar" "$DIR/rootfs.tar.new"
mv "$work/versions" "$DIR/versions"
printf 'sha256:%s\n' "$(sha256sum "$DIR/rootfs.tar.new" | cut -d ' ' -f 1)" >"$DIR/digest"
# Only root can make files of others. For whoever starts containers without a daemon.
if [ "$(id -u)" = 0 ]; then
  rm -rf "$DIR/rootfs" "$DIR/rootfs.new"
  mkdir "$DIR/rootfs.new"
  tar -xpf "$DIR/rootfs.tar.new" -C "$DIR/rootfs.new" --numeric-owner
  mv "$DIR/rootfs.new" "$DIR/rootfs"
fi
mv "$DIR/rootfs.tar.new" "$DIR/rootfs.tar"
echo "$key" >"$DIR/key"
say "built the image: $(stat -c %s "$DIR/rootfs.tar") bytes, $(cat "$DIR/digest")"
