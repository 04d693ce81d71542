#!/usr/bin/env bash
# Installs the engines that sandboxes can be kept by, from the packages of this machine's own sources, and makes what
# they start from: the root file system of containers, and the guest of virtual machines. Does only what is missing.
#
#   npm run engines                 all of it
#   npm run engines -- --rebuild    also what is there already
#
# What is made goes to $ASSAY_ENGINES_DIR, or /var/cache/assay for root, or ${XDG_CACHE_HOME:-~/.cache}/assay.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "Engines: $*"; }
fail() { # fail WHAT TO-DO
  echo "Engines: $1" >&2
  echo "         $2" >&2
  exit 1
}

case ${1-} in
'') ;;
--rebuild) export ASSAY_ENGINES_REBUILD=1 ;;
*) fail "there is no option $1" 'The only one is --rebuild' ;;
esac

if [ -z "${ASSAY_ENGINES_DIR-}" ]; then
  if [ "$(id -u)" = 0 ]; then ASSAY_ENGINES_DIR=/var/cache/assay; else
    ASSAY_ENGINES_DIR=${XDG_CACHE_HOME:-$HOME/.cache}/assay
  fi
fi
export ASSAY_ENGINES_DIR
mkdir -p "$ASSAY_ENGINES_DIR"

# ---- packages ----

missing=''
need() { # need PROGRAM PACKAGE
  PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need dockerd docker.io
need runc runc
need runsc runsc
need podman podman
need mmdebstrap mmdebstrap
if [ "$(uname -m)" = x86_64 ]; then need qemu-system-x86_64 qemu-system-x86; fi
need mkfs.erofs erofs-utils
need lz4 lz4
need xz xz-utils
need zstd zstd
need cpio cpio
need depmod kmod

# Packages of daemons start them. Nobody asked for a daemon here: tests start one of their own, and end it.
POLICY=/usr/sbin/policy-rc.d
install_packages() {
  local has_policy=no status=0
  [ -e "$POLICY" ] && has_policy=yes
  if [ "$has_policy" = no ]; then
    printf '#!/bin/sh\nexit 101\n' >"$POLICY"
    chmod 755 "$POLICY"
  fi
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086 # a list of words
  { scripts/engines/apt.sh update -q && scripts/engines/apt.sh install -q -y --no-install-recommends $missing; } >"$ASSAY_ENGINES_DIR/packages.log" || status=$?
  if [ "$has_policy" = no ]; then rm -f "$POLICY"; fi
  [ "$status" -eq 0 ] || tail -n 20 "$ASSAY_ENGINES_DIR/packages.log" >&2
  return "$status"
}

if [ -z "$missing" ]; then
  say 'all packages are there'
elif ! command -v apt-get >/dev/null 2>&1; then
  fail "not installed:$missing" 'There is no apt-get here: install what these Debian packages hold by other means'
elif [ "$(id -u)" != 0 ]; then
  fail "not installed:$missing" "Installing needs root: sudo apt-get install --no-install-recommends$missing"
else
  say "installing$missing"
  install_packages || fail 'cannot install the packages' "The log is $ASSAY_ENGINES_DIR/packages.log"
fi

# ---- what they start from ----

scripts/engines/image.sh
if [ "$(uname -m)" = x86_64 ]; then scripts/engines/microvm.sh "$ASSAY_ENGINES_DIR/image/rootfs.tar"; else
  say 'no guest for virtual machines: it is for x86-64 only'
fi
say "ready in $ASSAY_ENGINES_DIR"
