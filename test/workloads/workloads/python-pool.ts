import { type Workload, writeTree } from '../workload.ts';

const PART = `import os, tempfile
def square(n):
    with tempfile.NamedTemporaryFile("w", delete=False) as file:
        file.write(str(n))
    os.replace(file.name, f"{tempfile.gettempdir()}/part-{n}")
    return n * n
`;

const SCRIPT = `import concurrent.futures, http.server, multiprocessing, os, sys, tempfile, threading, urllib.request, uuid
from multiprocessing import shared_memory
sys.path.insert(0, "lib")
from part import square
if __name__ == "__main__":
    with multiprocessing.get_context("forkserver").Pool(4) as pool:
        print(sum(pool.map(square, range(40))))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: os.makedirs("deep/a/b/c", exist_ok=True), range(50)))
    memory = shared_memory.SharedMemory(create=True, size=100)
    memory.close()
    memory.unlink()
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=".") as directory:
        open(os.path.join(directory, "x"), "w").close()
    with open(f"cache-{uuid.uuid4().hex}.tmp", "w") as cache:
        pass
    os.rename(cache.name, "cache.bin")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/work.py").read()
    server.shutdown()
`;

export const pythonPoolWorkload: Workload = {
  name: 'python with a pool of processes',
  tools: ['python3'],
  command: ['python3', 'work.py'],
  prepare: (dir) => writeTree(dir, { 'lib/part.py': PART, 'work.py': SCRIPT }),
};
