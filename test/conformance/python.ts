/** In front of every program that tries something: says what was refused and what was not. */
export const TRYING = `import os, sys, time, errno
def attempt(name, action):
    try:
        got = action()
    except BaseException as problem:
        print('HELD', name, type(problem).__name__, getattr(problem, 'errno', ''), flush=True)
    else:
        print('ESCAPED', name, repr(got)[:200], flush=True)
def look(name, action):
    # What is seen is printed whole: it must not hold the canary.
    try:
        print('SEEN', name, repr(action())[:2000], flush=True)
    except BaseException as problem:
        print('HELD', name, type(problem).__name__, getattr(problem, 'errno', ''), flush=True)
def read(path, size=4096):
    with open(path, 'rb') as file:
        return file.read(size)
`;

/** System calls by number, for what Python has no function for. */
export const CALLING = `${TRYING}import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == 'x86_64'
def call(name, x86, arm, *arguments):
    def action():
        ctypes.set_errno(0)
        made = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
        got = libc.syscall(ctypes.c_long(x86 if X86 else arm), *made)
        if got == -1:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return got
    attempt(name, action)
`;

export const CONNECTING = `${TRYING}import socket
socket.setdefaulttimeout(2)
def tcp(address, port, family=None):
    family = family or (socket.AF_INET6 if ':' in address else socket.AF_INET)
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.connect((address, port))
        s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
        return s.recv(4096)
def proxied(url):
    # By the proxy that the environment names, or straight on where there is none.
    import http.client, urllib.parse
    target = urllib.parse.urlsplit(url)
    proxy = urllib.parse.urlsplit(os.environ.get('http_proxy') or os.environ.get('HTTP_PROXY') or '')
    if proxy.hostname:
        connection = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=10)
        import base64
        headers = {'Proxy-Authorization': 'Basic ' + base64.b64encode(f'{proxy.username}:{proxy.password or ""}'.encode()).decode()} if proxy.username else {}
        connection.request('GET', url, headers={**headers, 'Host': target.netloc})
    else:
        connection = http.client.HTTPConnection(target.hostname, target.port, timeout=10)
        connection.request('GET', target.path or '/')
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise OSError(errno.EACCES, f'{answer.status} {body[:200]}')
    return body
`;

/** Ends of the tree that do their best to stay: double forks, own groups, deaf to signals, stopped. */
export function evading(token: string): string {
  return `import os, signal, sys, time
def beat(name):
    while True:
        with open('/workspace/beat', 'ab') as file:
            file.write(name)
        time.sleep(0.02)
def mark():
    # So that it can be found from outside.
    os.execv(sys.executable, [sys.executable, '-c', '''
import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    with open("/workspace/beat", "ab") as file: file.write(b"d")
    time.sleep(0.02)
''', '${token}'])
for index in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            mark()
        os._exit(0)
if os.fork() == 0:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    beat(b't')
stopped = os.fork()
if stopped == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    beat(b's')
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(0.3)
print('started', flush=True)
`;
}
