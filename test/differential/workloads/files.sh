set -u
say() { echo "== $*"; "$@"; echo "=> $?"; }
umask 022
mkdir -p tree/a/b tree/empty
echo one >tree/one
echo two >tree/a/two
chmod 600 tree/one; chmod 0755 tree/a/two; chmod 2775 tree/a; chmod 1777 tree/empty
ln tree/one tree/a/hard
ln -s ../one tree/a/soft
ln -s nowhere tree/dangling
mkfifo tree/fifo
truncate -s 1M tree/sparse
printf end | dd of=tree/sparse bs=1 seek=500000 conv=notrunc status=none
touch -d '2001-02-03 04:05:06.789 UTC' tree/one tree/a/b tree/sparse
touch -h -d '2002-02-03 04:05:06 UTC' tree/dangling tree/a/soft
python3 -c 'import os; os.setxattr("tree/one", "user.note", b"kept")'

say tar --sort=name --mtime='2003-01-01 UTC' --numeric-owner -cf fixed.tar tree
say tar --xattrs --sparse -czf all.tgz tree
say tar -tvf fixed.tar
mkdir out && say tar --xattrs -xpzf all.tgz -C out
python3 -c 'import os; print(os.getxattr("out/tree/one", "user.note"))'
mkdir out2 && say tar -xf fixed.tar -C out2 --no-same-permissions --keep-old-files
say tar -xf fixed.tar -C out2 --keep-old-files
say tar -xf fixed.tar -C out2 --overwrite
say tar -xf fixed.tar -C out2 --unlink-first
say tar -C out2 --delete -f fixed.tar tree/one
say tar -xf missing.tar
tar -cf - -C tree . | (mkdir out3; tar -xf - -C out3); echo "=> $?"
say cmp tree/sparse out/tree/sparse
stat -c '%n %b' out/tree/sparse tree/sparse | awk '{print $1, ($2 < 100)}'

say cp -a tree copy
say cp -r --preserve=links tree copy2
say cp --reflink=auto --sparse=always tree/sparse sparse2
say cp -al tree linked
say cp tree/one tree
say mv copy moved
say mv moved "$TMPDIR/away"
say mv "$TMPDIR/away" back
say mv -n tree/one tree/a/two
say mv tree tree/a
say install -D -m 750 tree/one made/by/install
say install -d -m 2770 made/dir
say ln -sfn other tree/a/soft
say rm tree/empty
say rmdir tree/empty tree/a
say rm -rf linked
say chmod -R u+rwX,go-w copy2
say chmod g+s made
mkdir made/inherits; stat -c %A made/inherits
say chown "$(id -u):$(id -g)" tree/one
say find tree -printf '%p %y %m %n %l\n' -depth
say find tree -newermt 2020-01-01 -type f
say find copy2 -name two -delete
say find . -maxdepth 1 -name 'out*' -exec chmod 755 {} +
say truncate -s -5 tree/a/two
say truncate -s 10 tree/missing/x
say dd if=/dev/zero of=zeros bs=64K count=4 oflag=append conv=notrunc,fsync status=none
say split -b 100K zeros part-
cat part-* | cmp - zeros
seq 1 50000 | shuf --random-source=<(yes) >numbers
say sort -n -S 50K -T "$TMPDIR" numbers -o sorted
say sort -c -n sorted
say sort -n -o sorted sorted
say sed -i.bak 's/^1/one/w changes' sorted
say perl -i -pe 's/one/1/' sorted
say perl -e 'use File::Temp; use File::Path qw(make_path remove_tree); use File::Copy; make_path("p/q/r"); move("sorted","p/s") or die $!; copy("p/s","p/t"); utime(1,2,"p/t"); rename("p/t","p/u"); print -s "p/u", " ", (stat "p/u")[9], "\n"; open(my $h,"<","nope") or print "$!\n"; my $f=File::Temp->new; print $f 1; close $f;'
awk 'NR % 1000 == 0 { print > ("awk-" NR % 3) } END { system("echo from awk"); close("awk-0") }' numbers
wc -l awk-*
say gzip -k numbers
say gzip -t numbers.gz
gunzip -c numbers.gz | cmp - numbers
say gzip -n9 zeros
cp tree/a/two left; echo more >>left
diff -u tree/a/two left | sed 's/\t.*//' >change.patch
cat change.patch
say patch -s tree/a/two change.patch
say patch -s --dry-run tree/a/two change.patch
say patch -s -R tree/a/two change.patch
rm -f tree/a/two.*
d=deep; for i in $(seq 1 60); do d=$d/level-$i; done
mkdir -p "$d" && echo bottom >"$d/leaf" && cat "$d/leaf"
say rm -r deep
for u in 000 002 077 777; do (umask $u; mkdir "u$u"; : >"f$u"; ln -s x "l$u"; mkfifo "p$u"); done
chmod u+rwx u777
for w in 1 2 3 4; do (for i in $(seq 1 200); do echo "writer $w line $i" >>appended; done) & done; wait
sort appended | uniq | wc -l
: >empty; : >>empty; cat <empty >>empty
set -C; (echo x >empty) 2>&1; set +C
rm -f all.tgz numbers.gz p/*.bak appended
echo done
