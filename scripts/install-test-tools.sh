#!/bin/sh
# Installs, from Debian's packages, what some tests use besides Node, npm and a C compiler. Only what is missing.
# A test whose tool is absent says so and is listed as not run; nothing here is needed to use assay.
set -eu

missing=''
need() { # need PROGRAM PACKAGE
  command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

need cc gcc
need make make
need git git
need python3 python3
need sqlite3 sqlite3
python3 -c 'import ensurepip' >/dev/null 2>&1 || missing="$missing python3-venv"
python3 -c 'import pip' >/dev/null 2>&1 || missing="$missing python3-pip"
/usr/bin/python3 -c 'import requests' >/dev/null 2>&1 || missing="$missing python3-requests"
need curl curl
need wget wget
need ssh openssh-client
[ -x /usr/sbin/sshd ] || missing="$missing openssh-server"
need zsh zsh
need readelf binutils
need setpriv util-linux
need bwrap bubblewrap
need strace strace
# a program that needs no library, in an image of its own
need busybox busybox-static
need chromium chromium
# for the comparison in npm run bench, and for ssh through the proxy
need socat socat
need rg ripgrep
need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
# The cross compiler comes without a C library.
if command -v dpkg >/dev/null 2>&1; then
  dpkg -s libc6-dev-arm64-cross >/dev/null 2>&1 || missing="$missing libc6-dev-arm64-cross"
fi

if [ -z "$missing" ]; then
  echo 'Test tools: all there'
  exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
  echo "Test tools: no apt-get here; not installed:$missing"
  exit 0
fi
if [ "$(id -u)" != 0 ]; then
  echo "Test tools: installing needs root; not installed:$missing"
  exit 0
fi
echo "Test tools: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt=$(dirname "$0")/engines/apt.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # a list of words
if ! { "$apt" update -q && "$apt" install -q -y --no-install-recommends $missing; } >"$log"; then
  cat "$log" >&2
  exit 1
fi
