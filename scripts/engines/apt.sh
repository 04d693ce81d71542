#!/bin/sh
# apt-get, but another package tool that holds a lock is waited for, which is said on standard error. What apt-get prints
# goes to standard output.
#   apt.sh ARGUMENTS...
set -eu

TURNS=600 # of a second each
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Its option DPkg::Lock::Timeout is for one lock of several; `update` takes another.
while :; do
  status=0
  LC_ALL=C apt-get "$@" >"$log" 2>&1 || status=$?
  holder=$(sed -n 's/^E: Could not get lock \(.*\)$/\1/p' "$log" | head -n 1)
  if [ "$status" = 0 ] || [ -z "$holder" ] || [ "$TURNS" = 0 ]; then break; fi
  if [ "$holder" != "${told-}" ]; then echo "Waiting for another package tool, which holds $holder" >&2; fi
  told=$holder
  TURNS=$((TURNS - 1))
  sleep 1
done
cat "$log"
exit "$status"
