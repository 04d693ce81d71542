import asyncio, compileall, contextlib, ctypes, errno, fcntl, glob, io, mmap, multiprocessing, os, pathlib, pty, select
import shutil, signal, socket, sqlite3, stat, struct, subprocess, sys, tarfile, tempfile, threading, time, venv, zipfile

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, body):
    try:
        print(name, repr(body()), flush=True)
    except OSError as error:
        print(name, errno.errorcode.get(error.errno), error.filename, flush=True)
    except Exception as error:
        print(name, type(error).__name__, error, flush=True)


def put(name, text="x", mode="w"):
    with open(name, mode) as file:
        file.write(text)


def mode(name):
    return oct(os.lstat(name).st_mode)


def directories():
    os.mkdir("d")
    fd = os.open("d", os.O_RDONLY | os.O_DIRECTORY)
    attempt("open dir_fd", lambda: os.close(os.open("f", os.O_CREAT | os.O_WRONLY, 0o640, dir_fd=fd)))
    attempt("mkdir dir_fd", lambda: os.mkdir("s", dir_fd=fd))
    attempt("symlink dir_fd", lambda: os.symlink("f", "l", dir_fd=fd))
    attempt("link dir_fd", lambda: os.link("f", "h", src_dir_fd=fd, dst_dir_fd=fd))
    attempt("link nofollow", lambda: os.link("l", "hl", src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False))
    attempt("mkfifo dir_fd", lambda: os.mkfifo("p", dir_fd=fd))
    attempt("mknod dir_fd", lambda: os.mknod("n", 0o600 | stat.S_IFREG, dir_fd=fd))
    attempt("rename dir_fd", lambda: os.rename("h", "h2", src_dir_fd=fd, dst_dir_fd=fd))
    attempt("replace dir_fd", lambda: os.replace("h2", "n", src_dir_fd=fd, dst_dir_fd=fd))
    attempt("chmod dir_fd", lambda: os.chmod("f", 0o751, dir_fd=fd))
    attempt("chown dir_fd", lambda: os.chown("f", -1, -1, dir_fd=fd, follow_symlinks=False))
    attempt("utime dir_fd", lambda: os.utime("f", ns=(10**9, 2 * 10**9), dir_fd=fd))
    attempt("utime link", lambda: os.utime("l", (5, 6), dir_fd=fd, follow_symlinks=False))
    attempt("stat dir_fd", lambda: os.stat("f", dir_fd=fd).st_mtime)
    attempt("access dir_fd", lambda: os.access("f", os.W_OK, dir_fd=fd))
    attempt("readlink dir_fd", lambda: os.readlink("l", dir_fd=fd))
    attempt("unlink dir_fd", lambda: os.unlink("p", dir_fd=fd))
    attempt("rmdir dir_fd", lambda: os.rmdir("s", dir_fd=fd))
    attempt("listdir fd", lambda: sorted(os.listdir(fd)))
    attempt("scandir fd", lambda: sorted(e.name for e in os.scandir(fd)))
    attempt("fwalk", lambda: [(a, sorted(c)) for a, b, c, d in os.fwalk(".", dir_fd=fd)])
    attempt("fchdir", lambda: (os.fchdir(fd), put("here"), os.chdir("..")))
    attempt("chmod fd", lambda: os.chmod(fd, 0o2755))
    attempt("utime fd", lambda: os.utime(fd, (7, 8)))
    attempt("makedirs", lambda: os.makedirs("d/1/2/3"))
    attempt("removedirs", lambda: os.removedirs("d/1/2/3"))
    attempt("truncate", lambda: os.truncate("d/f", 10))
    attempt("xattr", lambda: (os.setxattr("d/f", "user.x", b"y"), os.listxattr("d/f"), os.getxattr("d/f", "user.x"), os.removexattr("d/f", "user.x")))
    attempt("xattr link", lambda: os.setxattr("d/l", "user.x", b"y", follow_symlinks=False))
    attempt("missing", lambda: os.unlink("missing"))
    attempt("nul", lambda: os.mkdir("a\0b"))
    attempt("bytes", lambda: (os.mkdir(b"bytes-\xff"), os.rename(b"bytes-\xff", b"bytes-2")))
    attempt("getcwd", lambda: os.path.basename(os.getcwd()))
    os.close(fd)


def rename2(flags):
    result = libc.renameat2(-100, b"r1", -100, b"r2", flags)
    return result, errno.errorcode.get(ctypes.get_errno()) if result else None


def temporary():
    with tempfile.NamedTemporaryFile() as file:
        attempt("named", lambda: (file.write(b"x"), oct(os.fstat(file.fileno()).st_mode)))
    with tempfile.TemporaryDirectory() as name:
        attempt("directory", lambda: (put(name + "/x"), mode(name)))
    with tempfile.TemporaryFile(dir=".") as file:
        attempt("file", lambda: (file.write(b"x"), os.fstat(file.fileno()).st_nlink))
    attempt("mkstemp", lambda: os.unlink(tempfile.mkstemp(dir=".")[1]))
    attempt("spooled", lambda: tempfile.SpooledTemporaryFile(max_size=1).write(b"xyz"))
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(fd, b"from tmpfile")
    attempt("materialise", lambda: os.link(f"/proc/self/fd/{fd}", "materialised", follow_symlinks=True))
    os.close(fd)
    attempt("memfd", lambda: os.write(os.memfd_create("m"), b"x"))
    attempt("move from tmp", lambda: os.path.basename(shutil.move(make_tree(tempfile.mkdtemp()), "moved-tree")))


def make_tree(base):
    os.makedirs(base + "/sub")
    put(base + "/sub/file")
    os.symlink("sub/file", base + "/link")
    return base


def trees():
    make_tree("tree")
    attempt("copytree", lambda: shutil.copytree("tree", "tree2", symlinks=True))
    attempt("copy2", lambda: shutil.copy2("d/f", "copied"))
    attempt("move", lambda: shutil.move("tree2", "tree3"))
    attempt("make_archive", lambda: os.path.basename(shutil.make_archive("archive", "gztar", "tree")))
    with zipfile.ZipFile("z.zip", "w") as archive:
        archive.writestr("in/zip", "text")
    attempt("unzip", lambda: zipfile.ZipFile("z.zip").extractall("unzipped"))
    attempt("untar", lambda: tarfile.open("archive.tar.gz").extractall("untarred"))
    attempt("rmtree", lambda: shutil.rmtree("tree3"))
    attempt("rmtree missing", lambda: shutil.rmtree("tree3"))
    attempt("pathlib", lambda: (pathlib.Path("pl").touch(0o600), pathlib.Path("pl").write_text("x"), pathlib.Path("pl").rename("pl2").name))
    attempt("glob", lambda: sorted(glob.glob("**/file", recursive=True)))
    put("r1", "1"), put("r2", "22")
    for flags in (1, 2, 0, 0):
        attempt(f"renameat2 {flags}", lambda: rename2(flags))
    os.makedirs("src")
    put("src/mod.py", "x = 1\n")
    attempt("compileall", lambda: bool(compileall.compile_dir("src", quiet=1, invalidation_mode=__import__("py_compile").PycInvalidationMode.UNCHECKED_HASH)))
    attempt("venv", lambda: venv.create("env", with_pip=False, symlinks=True))
    attempt("venv runs", lambda: subprocess.run(["env/bin/python3", "-c", "import sys; print(sys.prefix != sys.base_prefix)"], capture_output=True).stdout)
    for name in ("z.zip", "archive.tar.gz"):
        os.unlink(name)


def locks():
    with open("lock", "w+") as file:
        attempt("flock", lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
        with open("lock", "r+") as other:
            attempt("flock held", lambda: fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB))
        attempt("lockf", lambda: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
        child = os.fork()
        if child == 0:
            try:
                with open("lock", "r+") as other:
                    fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os._exit(0)
            except OSError:
                os._exit(9)
        print("lockf in child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        attempt("ofd lock", lambda: len(fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))))
        attempt("flags", lambda: oct(fcntl.fcntl(file, fcntl.F_GETFL)))
    with open("map", "w+b") as file:
        file.truncate(8192)
        with mmap.mmap(file.fileno(), 8192) as area:
            area[5:10] = b"hello"
            area.flush()
        attempt("mmap", lambda: file.read(12))
    db = sqlite3.connect("py.db")
    attempt("sqlite", lambda: (db.execute("create table t(x)"), db.executemany("insert into t values(?)", [(i,) for i in range(50)]), db.commit(), db.execute("select sum(x) from t").fetchone())[3])
    db.close()


def square(x):
    return x * x


def record(name):
    put(name, "from " + name)


def processes():
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            attempt(f"pool {method}", lambda: pool.map(square, range(6)))
        child = context.Process(target=record, args=(f"by-{method}",))
        child.start(), child.join()
        print(method, child.exitcode)
    attempt("queue", lambda: queue_trip())
    attempt("shared memory", lambda: shared())
    attempt("run", lambda: subprocess.run("echo out; echo err >&2; exit 4", shell=True, capture_output=True))
    attempt("pipes", lambda: subprocess.Popen(["tr", "a-z", "A-Z"], stdin=subprocess.PIPE, stdout=subprocess.PIPE).communicate(b"abc"))
    attempt("cwd", lambda: subprocess.run(["ls"], cwd="tree", capture_output=True).stdout)
    attempt("no program", lambda: subprocess.run(["no-such-program"]))
    attempt("not executable", lambda: subprocess.run(["./lock"]))
    attempt("timeout", lambda: timed_out())
    attempt("session", lambda: subprocess.run(["sh", "-c", "exit 0"], start_new_session=True, umask=0o77).returncode)
    attempt("negative", lambda: subprocess.run(["sh", "-c", "kill -SEGV $$"]).returncode)
    attempt("preexec", lambda: subprocess.run(["sh", "-c", "umask; pwd | sed s,.*/,,"], preexec_fn=lambda: (os.umask(0o27), os.chdir("d")), capture_output=True).stdout)
    attempt("pass_fds", lambda: passed())
    output = []
    pty.spawn(["sh", "-c", "tty >/dev/null && echo on a terminal; stty size; echo to tty >/dev/tty"], lambda fd: (output.append(os.read(fd, 1024)), b"")[1] or output[-1], lambda fd: b"")
    print(b"".join(output))


def queue_trip():
    queue = multiprocessing.Queue()
    child = multiprocessing.Process(target=queue.put, args=("item",))
    child.start()
    item = queue.get(timeout=10)
    child.join()
    return item


def timed_out():
    try:
        subprocess.run(["sleep", "9"], timeout=0.1)
    except subprocess.TimeoutExpired:
        return "timed out"


def shared():
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=100)
    block.buf[0] = 7
    value = block.buf[0]
    block.close(), block.unlink()
    return value


def passed():
    read, write = os.pipe()
    subprocess.run(["bash", "-c", f"echo x >&{write}; echo y >/dev/fd/{write}; echo z >/proc/self/fd/{write}"], pass_fds=[write])
    os.close(write)
    return os.read(read, 100)


def signals():
    def beep(number, frame):
        raise InterruptedError("beep")

    signal.signal(signal.SIGALRM, beep)
    os.mkfifo("never")
    for name, body in {
        "open fifo": lambda: os.open("never", os.O_RDONLY),
        "open fifo for writing": lambda: os.open("never", os.O_WRONLY),
        "read pipe": lambda: os.read(os.pipe()[0], 1),
        "sleep": lambda: time.sleep(5),
        "wait": lambda: os.waitpid(os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "1"), 0),
    }.items():
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        start = time.monotonic()
        attempt("interrupted " + name, body)
        print(time.monotonic() - start < 0.9)
        signal.setitimer(signal.ITIMER_REAL, 0)
    ticks = []
    signal.signal(signal.SIGALRM, lambda *a: ticks.append(1))
    # A call that waits for the broker ends early for a handler that asks for no restart.
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    for i in range(300):
        fd = os.open(f"tick-{i % 7}", os.O_CREAT | os.O_RDWR, 0o600)
        os.write(fd, b"x"), os.close(fd)
        os.rename(f"tick-{i % 7}", "ticked")
        os.mkdir("ticking"), os.rmdir("ticking")
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("ticked", len(ticks) > 3, os.path.getsize("ticked"))
    attempt("libc open", lambda: libc.open(b"ticked", os.O_RDWR) > 2)
    attempt("kill self", lambda: os.kill(os.getpid(), 0))
    attempt("sigwait", lambda: (signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]), os.kill(os.getpid(), signal.SIGUSR1), signal.sigwait([signal.SIGUSR1]).name)[2])
    results = []
    threads = [threading.Thread(target=lambda n=n: [put(f"thread-{n}", str(i)) for i in range(50)] and results.append(n)) for n in range(8)]
    [t.start() for t in threads], [t.join() for t in threads]
    print("threads", sorted(results))
    writers = []
    for w in range(4):
        pid = os.fork()
        if pid == 0:
            fd = os.open("appended", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
            [os.write(fd, b"%d-%03d\n" % (w, i)) for i in range(100)]
            os._exit(0)
        writers.append(pid)
    [os.waitpid(pid, 0) for pid in writers]
    print("appended", len(set(open("appended").read().split())))
    os.unlink("appended")


async def streams():
    async def echo(reader, writer):
        writer.write((await reader.read(100)).upper())
        await writer.drain()
        writer.close()

    async def ask(opened):
        reader, writer = await opened
        writer.write(b"hello")
        writer.write_eof()
        text = await reader.read()
        writer.close()
        return text

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    print("tcp", await ask(asyncio.open_connection(*server.sockets[0].getsockname())))
    server.close()
    server = await asyncio.start_unix_server(echo, "async.sock")
    print("unix", await ask(asyncio.open_unix_connection("async.sock")))
    server.close()
    process = await asyncio.create_subprocess_exec("sh", "-c", "cat; exit 6", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    print("process", await process.communicate(b"input"), process.returncode)
    left, right = socket.socketpair()
    left.send(b"pair")
    print("pair", right.recv(10))
    parent, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    socket.send_fds(parent, [b"fd"], [os.open("ticked", os.O_RDWR)])
    data, fds, flags, address = socket.recv_fds(child, 10, 1)
    print("passed", data, os.write(fds[0], b"through"))
    print("poll", [e for f, e in select.poll().poll(0)], select.select([], [right], [], 0)[1] == [right])


def fifos():
    """Whoever comes first waits, and what was written before the other looked is not lost."""
    os.mkfifo("fifo")
    heard = []
    for i in range(60):
        pid = os.fork()
        if pid == 0:
            with open("fifo", "w") as end:
                end.write("heard")
            os._exit(0)
        time.sleep(0.002 * (i % 2))
        with open("fifo") as end:
            heard.append(end.read())
        heard.append(os.waitpid(pid, 0)[1])
    print("fifo", sorted(set(map(str, heard))))
    os.close(os.open("fifo", os.O_RDONLY | os.O_NONBLOCK))
    attempt("no reader is left", lambda: os.open("fifo", os.O_WRONLY | os.O_NONBLOCK))


if __name__ == "__main__":
    if sys.argv[1] == "files":
        directories()
        temporary()
        trees()
        locks()
        processes()
    else:
        signals()
        fifos()
        asyncio.run(streams())
    print("done")
