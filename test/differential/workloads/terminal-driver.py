"""Runs a program on a terminal and types a dialogue at it: each line of the file is typed once what stands before it
has been seen. `expect TEXT`, `send TEXT` (with a return), `key X` (as control key), `size ROWS COLUMNS`."""
import fcntl, os, pty, select, struct, sys, termios, time

script = [line.rstrip("\n") for line in open(os.path.join(os.path.dirname(__file__), sys.argv[1]))]
command = sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
seen, start = b"", 0


def read(seconds):
    global seen
    if not select.select([terminal], [], [], seconds)[0]:
        return True
    try:
        data = os.read(terminal, 65536)
    except OSError:
        data = b""
    seen += data
    return bool(data)


def expect(text):
    global start
    end = time.monotonic() + 15
    while text not in seen[start:]:
        if time.monotonic() > end or not read(0.2):
            sys.stdout.buffer.write(seen)
            sys.exit(f"waited in vain for {text!r}")
    start = seen.index(text, start) + len(text)


for line in script:
    verb, _, rest = line.partition(" ")
    if verb == "expect":
        expect(rest.encode())
    elif verb == "send":
        os.write(terminal, rest.encode() + b"\r")
    elif verb == "key":
        os.write(terminal, bytes([ord(rest) & 31]))
    elif verb == "size":
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *map(int, rest.split()), 0, 0))
    elif verb == "pause":
        time.sleep(float(rest))
while read(10):
    pass
sys.stdout.buffer.write(seen.replace(b"\r\n", b"\n"))
sys.stdout.flush()
status = os.waitpid(pid, 0)[1]
print("ended", os.waitstatus_to_exitcode(status))
print("done")
