/** The part of WebAssembly's JavaScript interface that is used here; it is typed only in the browser's library. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    private readonly brand;
  }
  class Memory {
    constructor(limits: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
  }
  class Instance {
    constructor(module: Module, imports: { readonly env: { readonly memory: Memory } });
    readonly exports: object;
  }
  class RuntimeError extends Error {}
  function compile(bytes: Uint8Array): Promise<Module>;
}
