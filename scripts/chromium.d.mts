export function findChromium(): string | undefined;
export function startChromium(program: string): Promise<Chromium>;

export interface Chromium {
  openTab(): Promise<Tab>;
  close(): Promise<void>;
}

export interface Tab {
  readonly requests: readonly string[];
  readonly complaints: readonly string[];
  send(method: string, params?: object): Promise<unknown>;
  open(url: string, options?: { timeoutMs?: number }): Promise<void>;
  evaluate(expression: string): Promise<unknown>;
  waitFor(expression: string, options?: { timeoutMs?: number }): Promise<void>;
  press(key: string): Promise<void>;
  resize(size: {
    width: number;
    height: number;
    scale?: number;
    isMobile?: boolean;
  }): Promise<void>;
  preferTheme(theme: 'light' | 'dark'): Promise<void>;
  takeScreenshot(clip?: { x: number; y: number; width: number; height: number }): Promise<Buffer>;
  printPdf(): Promise<Buffer>;
  close(): Promise<void>;
}
