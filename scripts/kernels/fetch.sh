#!/usr/bin/env bash
# Fetches what the guests of .ci/long are made of, from where this machine has its packages: the newest kernel of each line, and the
# tree of a small system. What is there already is kept.
#   fetch.sh ARCH LINE...     ARCH is amd64 or arm64; LINE is 5.10, 6.1, 6.12 or newest
# It has an apt configuration of its own: nothing below /etc/apt is used or changed.
set -euo pipefail
arch=$1
shift
cache=${ASSAY_KERNELS_DIR:-/var/cache/assay/kernels}/$arch
# Where this machine has Debian from, and its security updates.
find_mirror() { # find_mirror SUFFIX
  apt-get indextargets --format '$(ORIGIN)|$(RELEASE)|$(REPO_URI)' 'Created-By: Packages' |
    sed -nE "s/^Debian\|[a-z]+$1\|//p" | head -n 1
}
mirror=$(find_mirror '') security=$(find_mirror -security)
[ -n "$mirror" ] && [ -n "$security" ] || { echo 'kernels: apt has no packages of Debian and its security updates here (apt-get update)' >&2; exit 1; }
key=/usr/share/keyrings/debian-archive-keyring.gpg
packages=nodejs,python3,git,busybox-static,util-linux,procps,iproute2,apparmor,kmod,nftables,passwd,tzdata

for program in apt-get dpkg-deb mmdebstrap xz; do
  command -v $program >/dev/null || { echo "kernels: needs $program (apt-get install mmdebstrap xz-utils)" >&2; exit 1; }
done

apt=$cache/apt
mkdir -p "$apt"/state/lists/partial "$apt"/cache/archives/partial "$apt"/etc/{sources.list.d,apt.conf.d,preferences.d}
: >"$apt/state/status"
for suite in bullseye bookworm trixie sid; do echo "deb [signed-by=$key] $mirror $suite main"; done >"$apt/etc/sources.list"
for suite in bullseye bookworm trixie; do echo "deb [signed-by=$key] $security $suite-security main"; done >>"$apt/etc/sources.list"
cat >"$apt/apt.conf" <<CONF
Dir::State "$apt/state";
Dir::State::status "$apt/state/status";
Dir::Cache "$apt/cache";
Dir::Etc "$apt/etc";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
CONF
export APT_CONFIG=$apt/apt.conf
apt-get -qq update

# The newest version that a meta package leads to, of one line or of all.
choose_image() { # choose_image LINE
  local prefix=$1. version
  if [ "$1" = newest ]; then prefix=; fi
  version=$(apt-cache madison "linux-image-cloud-$arch" | awk -v prefix="$prefix" 'index($3, prefix) == 1 { print $3 }' | sort -V | tail -n 1)
  apt-cache show "linux-image-cloud-$arch=$version" | sed -n "s/^Depends:.*\(linux-image-[^ ,]*-cloud-$arch\).*/\1/p" | head -n 1
}

fetch_kernel() { # fetch_kernel LINE
  local image release kernel=$cache/$1 work
  local -a wanted
  image=$(choose_image "$1")
  [ -n "$image" ] || { echo "kernels: no kernel $1 for $arch" >&2; return 1; }
  release=${image#linux-image-}
  if [ "$(cat "$kernel/release" 2>/dev/null)" = "$release" ]; then return; fi
  wanted=("$image")
  # From 7.x on the image is in three parts.
  if apt-cache show "linux-binary-$release" >/dev/null 2>&1; then wanted=("linux-binary-$release" "linux-modules-$release"); fi
  work=$(mktemp -d "$cache/.kernel-XXXXXX")
  (cd "$work" && apt-get -qq download "${wanted[@]}" && for package in ./*.deb; do dpkg-deb -x "$package" tree; done)
  rm -rf "$kernel"
  mkdir -p "$kernel"
  cp "$(find "$work/tree" -name "vmlinuz*" -type f | head -n 1)" "$kernel/vmlinuz"
  mv "$(find "$work/tree" -path "*lib/modules/$release" -type d | head -n 1)" "$kernel/modules"
  rm -rf "$work"
  echo "$release" >"$kernel/release"
  echo "kernels: $1 is $release ($arch)"
}

for line in "$@"; do fetch_kernel "$line"; done
unset APT_CONFIG
# Nothing of another machine's can be run here, so there what is essential is named, and only unpacked.
variant=minbase
if [ "$arch" != "$(dpkg --print-architecture)" ]; then
  variant=extract
  packages+=,base-files,bash,dash,coreutils,diffutils,findutils,grep,sed,gzip,tar,hostname,libc-bin,mawk,util-linux,mount
fi
if ! [ -e "$cache/tree.tar" ]; then
  mmdebstrap --quiet --mode=root --variant=$variant \
    --architectures="$arch" --include="$packages" trixie "$cache/tree.tar.new" \
    "deb [signed-by=$key] $mirror trixie main" --format=tar
  mv "$cache/tree.tar.new" "$cache/tree.tar"
fi
