/** What is used of WebAssembly; the types of Node 20 leave it to those of browsers. */
declare global {
  namespace WebAssembly {
    type ModuleImports = Record<string, (...args: never[]) => unknown>;

    class Module {
      constructor(bytes: Uint8Array<ArrayBuffer>);
    }

    class Instance {
      constructor(module: Module, imports: Record<string, ModuleImports>);
      readonly exports: Record<string, unknown>;
    }

    interface Memory {
      readonly buffer: ArrayBuffer;
    }

    class RuntimeError extends Error {}

    function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
  }
}

export {};
