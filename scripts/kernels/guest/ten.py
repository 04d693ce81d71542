#!/usr/bin/env python3
"""The ten programs under --preset coding-agent, in a project of their own below HOME. One line each: number, name, how it
went (works, refused, OPEN where something is not refused, FAILS), its exit code.
    ten.py ASSAY OUTSIDE     OUTSIDE is a directory that anybody may write in"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

assay, outside = sys.argv[1], pathlib.Path(sys.argv[2])
home = pathlib.Path(os.environ['HOME'])
project = home / 'project'
bundle = home / 'record.tar.gz'
LOOPBACK = '''
import socket, threading
server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen()
threading.Thread(target=lambda: server.accept()[0].sendall(b'pong')).start()
print(socket.create_connection(server.getsockname(), 5).recv(4).decode())
'''
RECORDED = 'cat notes.txt; echo x > new.txt; mkdir d; mv new.txt d/; cat ~/.ssh/id_rsa; python3 -c "print(1)"; exit 0'


def run(command, text=None):
    done = subprocess.run(command, cwd=project, input=text or '', capture_output=True, text=True, timeout=300, errors='replace')
    return done.returncode, done.stdout, done.stderr


def sandbox(*command, flags=()):
    return run([assay, 'sandbox', '--preset', 'coding-agent', *flags, '--', *command])


def tell(number, name, code, is_good, is_open=None):
    how = 'OPEN' if is_open else 'FAILS' if not is_good else 'works' if is_open is None else 'refused'
    print(f'RESULT {number} {name} {how} {code}', flush=True)


def git(*words):
    return subprocess.run(['git', *words], cwd=project, capture_output=True, text=True, check=True).stdout


shutil.rmtree(project, ignore_errors=True)
project.mkdir()
(home / '.ssh').mkdir(exist_ok=True)
(home / '.ssh/id_rsa').write_text('SECRET')
(project / 'notes.txt').write_text('hello\n')
git('init', '-q', '-b', 'main')
git('config', 'user.email', 'a@example.org')
git('config', 'user.name', 'a')
git('add', '.')
git('commit', '-qm', 'one')

code, out, _ = sandbox('cat', 'notes.txt')
tell(1, 'read', code, 'hello' in out)
code, _, _ = sandbox('sh', '-c', 'echo more >> notes.txt')
tell(2, 'write', code, 'more' in (project / 'notes.txt').read_text())
code, out, _ = sandbox('sh', '-c', 'cat ~/.ssh/id_rsa')
tell(3, 'read-refused', code, code != 0, 'SECRET' in out)
places = [home / 'out.txt', outside / 'out.txt']
code, _, _ = sandbox('sh', '-c', f'(echo x > {places[0]}) || (echo x > {places[1]})')
tell(4, 'write-refused', code, code != 0, any(place.exists() for place in places))
hook = project / '.git/hooks/post-checkout'
code, _, _ = sandbox('sh', '-c', 'echo x > .git/hooks/post-checkout')
tell(5, 'hook-refused', code, code != 0, hook.exists())
for place in [*places, hook]:
    place.unlink(missing_ok=True)
code, out, error = sandbox('python3', '-c', LOOPBACK)
tell(6, 'loopback', code, 'pong' in out)
if 'pong' not in out:
    print('RESULT said', 'before' if 'no loopback' in error else 'NOTHING', flush=True)
code, out, _ = sandbox('python3', '-c', 'import subprocess; print(subprocess.check_output(["echo", "below"]).decode())')
tell(7, 'subprocess', code, 'below' in out)
code, _, _ = sandbox('sh', '-c', 'git add notes.txt && git commit -qm two')
tell(8, 'commit', code, git('log', '-1', '--format=%s').strip() == 'two')
git('reset', '-q', '--hard', 'HEAD')
code, _, _ = sandbox('sh', '-c', RECORDED, flags=['--bundle', str(bundle)])
verified, out, _ = run([assay, 'evidence', 'verify', str(bundle)])
tell(9, 'record', f'{code},{verified}', code == 0 and verified == 10)
print('RESULT run', *sorted(set(re.findall(r'sandbox_[0-9a-f]{16}', out))), flush=True)
text = f'import os; print(sum(range(10)), os.path.exists({str(home / ".ssh/id_rsa")!r}))'
code, out, error = run([assay, 'exec', '--lang', 'python'], text)
tell(10, 'exec', code, '45' in out, True if 'True' in out else None)
if '45' not in out:
    print('RESULT exec-said', ' '.join(error.split())[:200], flush=True)
code, _, error = sandbox('true', flags=['--fail-closed'])
print('RESULT fail-closed', code, flush=True)
is_closed = code == 2
code, out, _ = run([assay, 'doctor'])
status = re.search(r'^Status: +(\w+)', out, re.M)[1]
print('RESULT doctor', status, 'agrees' if (status == 'full') != is_closed else 'DISAGREES', flush=True)
layers = re.findall(r'^  (\w+) +(absent|partial)(.*)$', out.split('\n\n')[1], re.M)
for layer, status, why in layers:
    print(f'RESULT layer {layer} {status} {why.strip()}', flush=True)
advice = out.split('What to do:\n')[1].split('\n\n')[0] if 'What to do:' in out else ''
for line in advice.splitlines():
    print('RESULT advice', line.strip(), flush=True)
