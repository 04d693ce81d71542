set -u
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_PAGER=cat
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='2020-01-02T03:04:05Z' GIT_COMMITTER_DATE='2020-01-02T03:04:05Z'
say() { echo "== $*"; "$@"; echo "=> $?"; }

say git init -q -b main one
cd one
git config pack.threads 1
git config gc.auto 0
git config protocol.file.allow always
for i in 1 2 3 4 5 6; do
  seq 1 "$((i * 10))" >"file-$i"
  mkdir -p "dir-$i/sub"
  echo "$i" >"dir-$i/sub/leaf"
  git add -A
  git commit -qm "commit $i"
done
chmod +x file-1
ln -s file-1 link
say git status --short
say git add -A
say git diff --cached --stat
say git commit -m 'mode and link'
say git mv file-2 moved
say git rm -q file-3
say git commit -qm 'move and remove'
say git log --oneline --stat -M

say git switch -qc topic HEAD~2
sed -i 's/^5$/five/' file-4
say git commit -qam topic
say git switch -q main
sed -i 's/^5$/FIVE/' file-4
say git commit -qam main
say git merge topic
cat file-4 | head -12
say git ls-files -u
say git merge --abort
say git rebase topic
say git rebase --abort
say git merge -q -X ours -m merged topic
say git cherry-pick --allow-empty topic
git cherry-pick --abort 2>&1

echo dirty >>file-5
echo new >untracked
say git stash push -q -u
say git stash list
say git status --short
say git stash pop -q
say git status --short
say git checkout -q -- file-5
say git clean -fdx

say git tag v1
say git -c tag.gpgSign=false tag -a v2 -m two
say git worktree add -q ../tree topic
echo x >>../tree/file-4
say git -C ../tree commit -qam 'in a worktree'
say git worktree list --porcelain
say git worktree remove ../tree
say git branch -av
say git branch -D topic
say git grep -n -e '^1[0-9]$' -- 'file-*'
say git blame -s file-4
say git describe
say git reflog -n 3
say git notes add -m note
say git bundle create -q ../one.bundle main
say git archive -o ../one.tar HEAD
say git format-patch -q -2 -o ../patches
say git fsck --full --strict

git bisect start -q HEAD HEAD~6 2>&1
say git bisect run sh -c 'test "$(wc -l <file-6)" -lt 60 2>/dev/null'
say git bisect reset

cd ..
say git clone -q one two
say git clone -q --no-local --bare one three.git
say git -C two checkout -q HEAD~3
say git -C two switch -qc again
say git -C two am -q --3way ../patches/0002-main.patch
say git -C two push -q origin again
say git -C two fetch -q --tags
say git -C two -c protocol.file.allow=always submodule --quiet add "$PWD/three.git" sub/module
say git -C two commit -qm 'a submodule'
say git -C two submodule status
say git -C one gc -q --prune=now
say git -C one repack -adfq
say git -C one pack-refs --all
say git -C one count-objects
say git -C one update-index --refresh
say git -C one ls-files -s
say git -C one ls-files -o
say git -C two log --oneline -n 3
say git -C one commit --amend -qm amended
say git -C one reset -q --hard HEAD~1
say git -C one revert --no-edit HEAD~1
say git -C one sparse-checkout set dir-1
ls one
say git -C one apply --check ../patches/0001-x.patch
rm -rf two
echo done
