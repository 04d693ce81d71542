#!/usr/bin/env bash
# Boots one kernel in QEMU, without KVM, and runs settings in it; what it says goes to standard output.
#   boot.sh ARCH LINE SETTING[,SETTING...]     after fetch.sh ARCH LINE
set -euo pipefail
cd "$(dirname "$0")"
arch=$1 line=$2 settings=$3
cache=${ASSAY_KERNELS_DIR:-/var/cache/assay/kernels}/$arch
kernel=$cache/$line
work=$(mktemp -d "$cache/.boot-XXXXXX")
qemu=
cleanup() {
  if [ -n "$qemu" ]; then kill "$qemu" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

# The disk is the same for every kernel and every assay: the tree, the modules of all kernels, a user.
make_disk() {
  local root=$work/root release name
  mkdir "$root"
  tar -C "$root" -xf "$cache/tree.tar"
  for name in bin sbin lib; do [ -e "$root/$name" ] || ln -s "usr/$name" "$root/$name"; done
  grep -q '^root:' "$root/etc/passwd" 2>/dev/null || echo 'root:x:0:0::/root:/bin/bash' >>"$root/etc/passwd"
  grep -q '^root:' "$root/etc/group" 2>/dev/null || echo 'root:x:0:' >>"$root/etc/group"
  echo 'u:x:1000:1000::/home/u:/bin/bash' >>"$root/etc/passwd"
  echo 'u:x:1000:' >>"$root/etc/group"
  mkdir -p "$root"/{dev,proc,sys,run,tmp,root,opt,srv,home/u,usr/local/bin,usr/local/lib/python3.13/dist-packages,etc/apparmor.d}
  chown 1000:1000 "$root/home/u"
  [ -e "$root/etc/localtime" ] || ln -s /usr/share/zoneinfo/Etc/UTC "$root/etc/localtime"
  [ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
  [ -e "$root/usr/bin/awk" ] || ln -s mawk "$root/usr/bin/awk"
  echo '127.0.0.1 localhost guest' >"$root/etc/hosts"
  for release in "$cache"/*/release; do
    mkdir -p "$root/usr/lib/modules"
    cp -a "$(dirname "$release")/modules" "$root/usr/lib/modules/$(cat "$release")"
    depmod -b "$root/usr" "$(cat "$release")" 2>/dev/null || true
  done
  install -m 755 guest/init "$root/opt/init"
  truncate -s 2500M "$work/disk"
  # Without what a kernel of 5.10 does not know.
  /sbin/mke2fs -q -t ext4 -O ^orphan_file,^metadata_csum_seed,^has_journal -d "$root" "$work/disk"
  mv "$work/disk" "$cache/disk"
  cp guest/init "$cache/disk.init"
  rm -rf "$root"
}
[ -e "$cache/disk" ] && cmp -s guest/init "$cache/disk.init" && [ -z "$(find "$cache"/*/release -newer "$cache/disk")" ] || make_disk

# A static busybox and the drivers of the disk, which other kernels have built in.
make_initrd() {
  local root=$work/initrd-root name file number=0
  mkdir -p "$root"/{bin,modules,proc,dev,newroot}
  tar -C "$work" -xf "$cache/tree.tar" ./usr/bin/busybox
  mv "$work/usr/bin/busybox" "$root/bin/"
  for name in virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk crc16 crc32c_generic mbcache jbd2 ext4; do
    file=$(find "$kernel/modules" -name "$name.ko*" | head -n 1)
    [ -n "$file" ] || continue
    number=$((number + 1))
    case $file in
    *.xz) xz -dc "$file" ;;
    *.zst) zstd -dcq "$file" ;;
    *) cat "$file" ;;
    esac >"$root/modules/$(printf %02d $number)-$name.ko"
  done
  cat >"$root/init" <<'INIT'
#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
for round in 1 2 3; do for module in /modules/*.ko; do insmod $module 2>/dev/null; done; done
until [ -b /dev/vda ]; do sleep 0.1; done
mount -t ext4 /dev/vda /newroot || poweroff -f
umount /dev /proc
exec switch_root /newroot /opt/init
INIT
  chmod +x "$root/init"
  (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"
}
make_initrd

mkdir "$work/assay"
cp -a ../../bin ../../dist ../../schemas ../../package.json "$work/assay/"
install -D -m 644 -t "$work/assay/scripts" ../set-up.mjs
flags=(-machine q35)
console=ttyS0
emulator=qemu-system-x86_64
if [ "$arch" = arm64 ]; then
  emulator=qemu-system-aarch64
  flags=(-machine virt)
  console=ttyAMA0
  # The rest of dist is the same everywhere, but for what node compiles it to.
  rm -rf "$work"/assay/dist/code-*
  node --input-type=module -e '
    const { buildNative } = await import(process.argv[1]);
    await buildNative(process.argv[2], "aarch64-linux-gnu-gcc");' "$PWD/../set-up.mjs" "$work/assay/dist"
fi
cp guest/ten.py guest/settings.sh "$work/"
tar -C "$work" -cf "$work/assay.tar" --owner=0 --group=0 assay ten.py settings.sh
truncate -s %512 "$work/assay.tar"

timeout "${ASSAY_KERNELS_LIMIT_S:-3600}" "$emulator" -accel tcg,thread=multi "${flags[@]}" -cpu max -smp 2 -m 2048 -nodefaults -nographic -no-reboot -nic none -serial stdio \
  -kernel "$kernel/vmlinuz" -initrd "$work/initrd" -append "console=$console quiet loglevel=3 panic=-1 mitigations=off set=$settings" \
  -drive "file=$cache/disk,format=raw,if=none,id=disk,snapshot=on" -device virtio-blk-pci,drive=disk \
  -drive "file=$work/assay.tar,format=raw,if=none,id=assay,readonly=on" -device virtio-blk-pci,drive=assay </dev/null &
qemu=$!
wait $qemu
qemu=
