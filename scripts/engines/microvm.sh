#!/usr/bin/env bash
# Builds the guest of the microvm backend: a Debian kernel, an initramfs with the agent, and a read-only root with
# Python, Node and bash. Everything comes from the machine's own package sources, and what is there already is kept.
#   microvm.sh [ROOTFS.TAR]     the root, unless given: image/rootfs.tar in the directory of the engines
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ -n "${ASSAY_ENGINES_DIR:-}" ]; then cache=$ASSAY_ENGINES_DIR
elif [ "$(id -u)" = 0 ]; then cache=/var/cache/assay
else cache=${XDG_CACHE_HOME:-$HOME/.cache}/assay; fi
rootfs=${1:-$cache/image/rootfs.tar}
guest=$cache/microvm
packages=(qemu-system-x86 erofs-utils lz4 xz-utils zstd cpio kmod)
programs=(qemu-system-x86_64 mkfs.erofs lz4 xz zstd cpio depmod)

fail() {
  echo "microvm: $*" >&2
  exit 1
}

[ "$(uname -m)" = x86_64 ] || fail "the guest is built for x86_64 only, and this is $(uname -m)"
command -v apt-get dpkg-deb >/dev/null || fail 'needs apt-get and dpkg-deb (Debian or Ubuntu)'
[ -s "$rootfs" ] || fail "cannot find the root at $rootfs; npm run engines builds it first"

# The first sandbox would make it otherwise, and take longer. It needs assay itself, which npm start builds.
make_snapshot() {
  if ! [ -f dist/index.mjs ]; then
    echo 'microvm: the snapshot is made with the first sandbox (there is no dist yet: npm start makes it)'
    return
  fi
  ASSAY_ENGINES_DIR=$cache node --input-type=module -e '
    const { probeBackend } = await import(process.argv[1]);
    const { isAvailable, engine, reasons } = await probeBackend("microvm");
    console.log(`microvm: ${isAvailable ? engine : "not available"}`);
    for (const reason of reasons) console.log(`microvm: ${reason}`);
    process.exitCode = isAvailable ? 0 : 1;
  ' "$PWD/dist/index.mjs"
}

mkdir -p "$guest"
exec 9>"$guest/.lock"
flock 9
work=$(mktemp -d "$guest/.build-XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
chmod 755 "$work"
# The package lists may be missing, or somebody else's: our own are made where nobody needs rights for it.
apt=()
if ! apt-cache show linux-image-cloud-amd64 >/dev/null 2>&1; then
  mkdir -p "$work"/apt/{lists,cache}/partial
  apt=(-o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User="$(id -un)")
  scripts/engines/apt.sh "${apt[@]}" -qq update || fail 'cannot get the package lists'
fi

missing=()
for i in "${!programs[@]}"; do
  PATH=$PATH:/usr/sbin:/sbin command -v "${programs[i]}" >/dev/null || missing+=("${packages[i]}")
done
if [ ${#missing[@]} -gt 0 ]; then
  [ "$(id -u)" = 0 ] || fail "as root: apt-get install --no-install-recommends ${missing[*]}"
  DEBIAN_FRONTEND=noninteractive scripts/engines/apt.sh "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
fi
export PATH=$PATH:/usr/sbin:/sbin

compiler=
for name in cc gcc clang; do if command -v $name >/dev/null; then compiler=$name && break; fi; done
[ -n "$compiler" ] || fail 'needs a C compiler (gcc)'

# Static, since the guest has no libraries when it starts.
"$compiler" -std=c11 -O2 -Wall -Wextra -Werror -Wshadow -Wformat=2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
  -static-pie -fPIE -Wl,-z,relro,-z,now -s -Inative -o "$work/agent" native/guest/*.c native/digest.c

# How fast the guest's clock runs under emulation, which it has no other clock to find out by.
"$compiler" -std=c11 -O2 -Wall -Wextra -Werror -o "$work/measure-tsc" scripts/engines/measure-tsc.c
tsc_khz=$("$work/measure-tsc")

# Which kernel is the current one is what the metapackage depends on.
kernel=$(apt-cache "${apt[@]}" depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
[ -n "$kernel" ] || fail 'cannot find linux-image-cloud-amd64 in the package lists'
version=$(apt-cache "${apt[@]}" policy "$kernel" | sed -n 's/^ *Candidate: //p')

# What the guest is made of, by what decides it; the root by its digest, which its own build has no reason to change.
digest() { sha256sum "$@" | sed 's/ .*//'; }
made_of=$({
  echo "$kernel $version"
  digest "$work/agent" native/guest/warm.py "$rootfs" scripts/engines/microvm.sh
  # To a thousandth: it is measured anew each time, and another machine has another.
  echo $(((tsc_khz + 500) / 1000))
} | digest)
if [ -f "$guest/guest.json" ] && grep -q "\"madeOf\": \"$made_of\"" "$guest/guest.json"; then
  echo "microvm: the guest in $guest is up to date ($kernel $version)"
  make_snapshot
  exit 0
fi

echo "microvm: kernel $kernel $version"
(cd "$work" && apt-get "${apt[@]}" -o APT::Sandbox::User="$(id -un)" -qq download "$kernel" && dpkg-deb -x ./*.deb kernel) || fail "cannot download $kernel"

# The machine starts an ELF image, which is inside the compressed one: at the offset and with the length that the
# header says (Documentation/x86/boot.rst, payload_offset), followed by its length.
image=$(echo "$work"/kernel/boot/vmlinuz-*)
read_number() { od -An -tu"$2" -j"$1" -N"$2" "$image" | tr -d ' '; }
sectors=$(read_number $((0x1f1)) 1)
start=$(((sectors + 1) * 512 + $(read_number $((0x248)) 4)))
length=$(($(read_number $((0x24c)) 4) - 4))
tail -c +$((start + 1)) "$image" | head -c "$length" >"$work/payload" || true
case $(head -c 4 "$work/payload" | od -An -tx1 | tr -d ' ') in
02214c18) lz4 -dcq "$work/payload" >"$work/vmlinux" ;;
fd377a58) xz -dc "$work/payload" >"$work/vmlinux" ;;
28b52ffd) zstd -dcq "$work/payload" >"$work/vmlinux" ;;
1f8b*) gzip -dc "$work/payload" >"$work/vmlinux" ;;
*) fail "cannot tell how $image is compressed" ;;
esac
head -c 4 "$work/vmlinux" | grep -q ELF || fail "what is inside $image is not a kernel"

# The drivers of the machine and what they need, each after what it needs.
modules=$(echo "$work"/kernel/lib/modules/*)
depmod -b "$work/kernel" "$(basename "$modules")"
mkdir -p "$work/initramfs/modules" "$work/initramfs/dev" "$work/initramfs/newroot"
add_driver() { # add_driver PATH: from the top of the modules
  local name
  name=$(basename "$1")
  if [ -e "$work/initramfs/modules/$name" ]; then return; fi
  local need
  for need in $(sed -n "s|^$1: *||p" "$modules/modules.dep"); do add_driver "$need"; done
  if [ -e "$work/initramfs/modules/$name" ]; then return; fi
  case $name in
  *.ko) cp "$modules/$1" "$work/initramfs/modules/$name" ;;
  *.ko.xz) xz -dc "$modules/$1" >"$work/initramfs/modules/$name" ;;
  *) fail "cannot tell what $1 is" ;;
  esac
  echo "$name" >>"$work/initramfs/modules/order"
}
for driver in virtio_mmio virtio_blk virtio_console erofs; do
  found=$(sed -n "s|^\([^:]*/$driver\.ko[.a-z]*\):.*|\1|p" "$modules/modules.dep")
  if [ -n "$found" ]; then add_driver "$found"; else
    grep -q "/$driver\.ko" "$modules/modules.builtin" || fail "the kernel has no $driver"
  fi
done
cp "$work/agent" "$work/initramfs/init"
chmod 755 "$work/initramfs/init"
find "$work/initramfs" -exec touch -h -d @0 {} +
(cd "$work/initramfs" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --reproducible --quiet) >"$work/initrd"

echo 'microvm: root'
mkdir "$work/root"
tar -C "$work/root" -xf "$rootfs" --no-same-owner --exclude='./dev/*'
mkdir -p "$work/root"/{dev,proc,sys,run,tmp,home,workspace}
mkdir -p "$work/root/usr/lib/assay"
install -m 644 native/guest/warm.py "$work/root/usr/lib/assay/"
grep -q '^[^:]*:[^:]*:1000:' "$work/root/etc/passwd" || echo 'sandbox:x:1000:1000:sandbox:/home:/bin/bash' >>"$work/root/etc/passwd"
grep -q '^[^:]*:[^:]*:1000:' "$work/root/etc/group" || echo 'sandbox:x:1000:' >>"$work/root/etc/group"
grep -q 'localhost' "$work/root/etc/hosts" 2>/dev/null || echo '127.0.0.1 localhost sandbox' >>"$work/root/etc/hosts"
mkfs.erofs --all-root -T 0 -U 00000000-0000-4000-8000-000000000000 --quiet "$work/root.erofs" "$work/root" >/dev/null

cat >"$work/guest.json" <<JSON
{
  "madeOf": "$made_of",
  "kernel": "$kernel $version",
  "tscKhz": $tsc_khz,
  "vmlinux": "$(digest "$work/vmlinux")",
  "initrd": "$(digest "$work/initrd")",
  "root": "$(digest "$work/root.erofs")"
}
JSON
# Each guest has a directory of its own, so that a program that is running finds the one it knows whole or not at all.
home=$guest/${made_of:0:16}
rm -rf "$home"
mkdir -m 755 "$home"
chmod 644 "$work"/{vmlinux,initrd,root.erofs,guest.json}
mv "$work"/{vmlinux,initrd,root.erofs} "$home/"
mv "$work/guest.json" "$guest/"
for old in "$guest"/*/; do
  if [[ $(basename "$old") =~ ^[0-9a-f]{16}$ && "$old" != "$home/" ]]; then rm -rf "$old"; fi
done
rm -f "$guest"/{vmlinux,initrd,root.erofs}
echo "microvm: the guest is in $home"
make_snapshot
