// Drives a real Chromium by its DevTools protocol, over a pipe: no port that others could reach, and no dependency.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program, or undefined where there is none. */
export function findChromium() {
  const named = process.env.CHROMIUM;
  const names = named ? [named] : NAMES;
  return names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
}

const FLAGS = [
  '--headless=new',
  '--remote-debugging-pipe',
  // It has a sandbox of its own, which root and containers do not get; only pages of ours are opened.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--no-default-browser-check',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
];

export async function startChromium(program) {
  const profile = mkdtempSync(join(tmpdir(), 'assay-chromium-'));
  const child = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  const connection = new Connection(child.stdio[3], child.stdio[4]);
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
  });
  void ended.then(() => connection.fail(new Error('Chromium has ended')));
  return {
    openTab: () => openTab(connection),
    async close() {
      await Promise.race([connection.send('Browser.close').catch(() => undefined), ended]);
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
      await ended;
      clearTimeout(timer);
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** Messages are JSON, each followed by a zero byte. */
class Connection {
  #output;
  #next = 0;
  #waiting = new Map();
  #listeners = [];
  #parts = [];

  constructor(output, input) {
    this.#output = output;
    input.on('data', (chunk) => this.#take(chunk));
    // Its end is told by the process.
    output.on('error', () => undefined);
    input.on('error', () => undefined);
  }

  send(method, params = {}, sessionId) {
    const id = (this.#next += 1);
    this.#output.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject, method }));
  }

  listen(listener) {
    this.#listeners.push(listener);
  }

  fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #take(chunk) {
    let from = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, from)) {
      this.#parts.push(chunk.subarray(from, end));
      this.#receive(JSON.parse(Buffer.concat(this.#parts).toString('utf8')));
      this.#parts = [];
      from = end + 1;
    }
    this.#parts.push(chunk.subarray(from));
  }

  #receive(message) {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) {
      for (const listener of this.#listeners) listener(message);
      return;
    }
    this.#waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(`${waiting.method}: ${message.error.message}`));
    else waiting.resolve(message.result);
  }
}

async function openTab(connection) {
  const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await connection.send('Target.attachToTarget', { targetId, flatten: true });
  const tab = new Tab(connection, targetId, sessionId);
  for (const domain of ['Page', 'Runtime', 'Network', 'Log', 'Audits'])
    await tab.send(`${domain}.enable`);
  return tab;
}

class Tab {
  /** Everything that was asked of the network, or of the disk. */
  requests = [];
  /** Errors, warnings, violations of the content policy. */
  complaints = [];
  #connection;
  #targetId;
  #sessionId;

  constructor(connection, targetId, sessionId) {
    this.#connection = connection;
    this.#targetId = targetId;
    this.#sessionId = sessionId;
    connection.listen((message) => {
      if (message.sessionId === sessionId) this.#note(message);
    });
  }

  send(method, params) {
    return this.#connection.send(method, params, this.#sessionId);
  }

  #note({ method, params }) {
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    if (method === 'Network.webSocketCreated') this.requests.push(params.url);
    if (method === 'Runtime.exceptionThrown')
      this.complaints.push(`exception: ${params.exceptionDetails.exception?.description}`);
    if (method === 'Runtime.consoleAPICalled' && params.type !== 'log')
      this.complaints.push(`console: ${JSON.stringify(params.args)}`);
    if (method === 'Log.entryAdded') this.complaints.push(`log: ${params.entry.text}`);
    if (method === 'Audits.issueAdded') this.complaints.push(`issue: ${params.issue.code}`);
    if (method === 'Page.javascriptDialogOpening')
      this.complaints.push(`dialog: ${params.message}`);
  }

  /** Opens a page and waits until it says that it is ready. */
  async open(url, { timeoutMs = 60_000 } = {}) {
    await this.send('Page.navigate', { url });
    await this.waitFor("document.documentElement?.classList.contains('is-ready')", { timeoutMs });
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async waitFor(expression, { timeoutMs = 15_000 } = {}) {
    const endMs = Date.now() + timeoutMs;
    for (;;) {
      // While a page is on its way to another, it cannot be asked.
      if (await this.evaluate(expression).catch(() => false)) return;
      if (Date.now() > endMs) throw new Error(`Not within ${timeoutMs} ms: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async press(key) {
    const text = key.length === 1 ? key : key === 'Enter' ? '\r' : undefined;
    const base = { key, code: key, windowsVirtualKeyCode: KEY_CODES[key] ?? 0 };
    await this.send('Input.dispatchKeyEvent', {
      type: 'keyDown',
      ...base,
      ...(text === undefined ? {} : { text }),
    });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...base });
  }

  async resize({ width, height, scale = 1, isMobile = false }) {
    await this.send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: scale,
      mobile: isMobile,
    });
  }

  async preferTheme(value) {
    await this.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value }],
    });
  }

  /** A PNG, of a part of the page where a clip is given. */
  async takeScreenshot(clip) {
    const { data } = await this.send('Page.captureScreenshot', {
      format: 'png',
      captureBeyondViewport: clip !== undefined,
      ...(clip ? { clip: { ...clip, scale: 1 } } : {}),
    });
    return Buffer.from(data, 'base64');
  }

  async printPdf() {
    const { data } = await this.send('Page.printToPDF', { printBackground: true });
    return Buffer.from(data, 'base64');
  }

  async close() {
    await this.#connection.send('Target.closeTarget', { targetId: this.#targetId });
  }
}

const KEY_CODES = {
  Enter: 13,
  Tab: 9,
  Escape: 27,
  Backspace: 8,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  End: 35,
  Home: 36,
};
