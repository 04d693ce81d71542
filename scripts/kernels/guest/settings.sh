# Each is one setting of a host, run as root of the guest; `ten WHO` runs the ten programs there.

# What node compiled here is of its version, not of the guest's.
node --input-type=module -e 'import("/opt/assay/scripts/set-up.mjs").then(({ keepCode }) => keepCode("/opt/assay/dist"))'

# Of a tree that was only unpacked nobody has compiled what is in Python, and a record tells.
python=$(echo /usr/lib/python3.*)
[ -e "$python/__pycache__" ] || python3 -m compileall -q -l "$python" "$python/encodings"

ten() { # ten WHO [WRAPPER...]
  local who=$1
  shift
  echo "WHO $who"
  if [ "$who" = root ]; then
    env HOME=/root USER=root "$@" python3 /opt/ten.py assay /srv/open
  else
    setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/u USER=u LOGNAME=u "$@" python3 /opt/ten.py assay /srv/open
  fi
}

with() { # with SYSCTL VALUE WHO
  local was
  if ! was=$(sysctl -n "$1" 2>/dev/null); then
    echo "RESULT absent $1"
    return
  fi
  sysctl -q -w "$1=$2"
  ten "$3"
  sysctl -q -w "$1=$was"
}

set_user() { ten user; }
set_root() { ten root; }
set_clone() { with kernel.unprivileged_userns_clone 0 user; }
set_ceiling() { with user.max_user_namespaces 0 user; }
set_ceiling_root() { with user.max_user_namespaces 0 root; }
set_ceiling_net() { with user.max_net_namespaces 0 user; }
set_ceiling_pid() { with user.max_pid_namespaces 0 user; }
set_ceiling_mnt() { with user.max_mnt_namespaces 0 user; }
set_yama() { with kernel.yama.ptrace_scope 2 user; }

# A session that AppArmor confines: without user namespaces, with such as give no rights, and with the helper's profile.
confined() { # confined NAME RULES...
  local name=$1
  shift
  printf 'abi <abi/4.0>,\nprofile %s {\n/{,**} rwlkmix,\nnetwork, unix, signal, ptrace, mqueue, change_profile, dbus,\n%s\n}\n' "$name" "$*" | apparmor_parser -r
  ten user aa-exec -p "$name" --
}
set_apparmor_none() { confined none 'capability, mount, umount, remount, pivot_root,'; }
set_apparmor_powerless() { confined powerless 'userns,'; }
set_apparmor_helper() {
  assay doctor --apparmor >/etc/apparmor.d/assay-helper
  apparmor_parser -r /etc/apparmor.d/assay-helper || echo 'RESULT parser FAILS'
  confined helped "capability, mount, umount, remount, pivot_root, $(sed -n 's/^# *\("[^"]*" rmpx.*\)/\1/p' /etc/apparmor.d/assay-helper)"
  apparmor_parser -R /etc/apparmor.d/assay-helper
}

# A cgroup as systemd delegates it, in which nothing is given on, with the shell that starts assay in it.
set_cgroup() {
  local tree=/sys/fs/cgroup pid
  mkdir -p $tree/rest $tree/given
  for pid in $(cat $tree/cgroup.procs); do echo "$pid" >$tree/rest/cgroup.procs 2>/dev/null; done
  echo '+memory +pids +cpu' >$tree/cgroup.subtree_control
  chown 1000:1000 $tree/given $tree/given/cgroup.{procs,subtree_control,threads}
  echo $$ >$tree/given/cgroup.procs
  ten user
  cd /home/u || return
  setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/u assay sandbox --limit-memory 100M -q -- \
    python3 -c 'x = bytearray(300 << 20)'
  echo "RESULT limited $?"
  echo "RESULT left $(find $tree/given -mindepth 1 -type d | wc -l) $(cat $tree/given/cgroup.subtree_control | wc -w) $(sed 's/.*://' /proc/self/cgroup)"
  echo $$ >$tree/rest/cgroup.procs
}

# What the kernel's newest rights refuse where nothing else is there.
set_rights() {
  python3 -c '
import os, socket, sys
server = socket.socket(socket.AF_UNIX); server.bind("/home/u/new"); os.chmod("/home/u/new", 0o777); server.listen(); os.rename("/home/u/new", "/home/u/outside.sock")
print("ready", flush=True); sys.stdin.read()' < <(sleep 60) &
  local server=$!
  timeout 30 bash -c 'until [ -S /home/u/outside.sock ]; do sleep 0.1; done'
  mkdir -p /home/u/project
  chown 1000:1000 /home/u/project
  cd /home/u/project || return
  setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/u assay sandbox --layers=landlock -q --allow-read /home/u -- python3 -c '
import socket
def tell(what, act):
    try: act(); print("RESULT right", what, "OPEN")
    except OSError as error: print("RESULT right", what, "refused", error.errno)
tell("unix", lambda: socket.socket(socket.AF_UNIX).connect("/home/u/outside.sock"))
tell("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)))
tell("tcp", lambda: socket.create_connection(("127.0.0.1", 9)))'
  kill $server
}
