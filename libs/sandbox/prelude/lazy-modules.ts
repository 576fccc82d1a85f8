/** Rarely used modules stay as text in the image and are evaluated on first use: each run copies the whole image. */

/** The exports that each lazy module offers. Declared here because lazy modules import from their callers. */
interface LazyModules {
  readonly autofill: { autofillOf(node: number): string };
  readonly clone: { cloneOf(value: unknown): unknown };
  readonly events: {
    readonly eventClasses: Readonly<Record<string, unknown>>;
    addListener(target: object, type: unknown, listener: unknown, options: unknown): void;
    removeListener(target: object, type: unknown, listener: unknown, options: unknown): void;
    dispatch(target: object, event: unknown): boolean;
    createEvent(name: string): object;
    click(element: object): void;
  };
  readonly intl: {
    readonly intl: object;
    numberText(value: number | bigint, locales: unknown, options?: object): string;
    dateText(date: Date, locales: unknown, options: unknown, parts: 'date' | 'time' | 'both'): string;
  };
  readonly iterators: {
    readonly NodeIterator: unknown;
    createIterator(root: unknown, show: unknown, filter: unknown): object;
  };
  readonly ranges: {
    readonly AbstractRange: unknown;
    readonly Range: unknown;
    readonly StaticRange: unknown;
    createRange(document: number): object;
  };
  readonly 'node-extras': {
    comparePosition(self: unknown, other: unknown): number;
    lookUpNamespace(node: number, prefix: unknown): string | null;
    lookUpPrefix(node: number, namespace: unknown): string | null;
    normalize(node: number): void;
  };
  readonly selection: { readonly Selection: unknown; selection(): object };
  readonly validity: {
    readonly ValidityState: new (node: number) => object;
    isAsked(node: number): boolean;
    isValid(node: number): boolean;
    verdictOf(node: number): boolean | null;
    isInRange(node: number): boolean | null;
  };
  readonly 'xml-markup': { innerXml(node: number): string; outerXml(node: number): string };
  readonly xpath: {
    readonly XPathEvaluator: unknown;
    readonly XPathExpression: unknown;
    readonly XPathResult: unknown;
    evaluate(...asked: unknown[]): object;
    createExpression(text: unknown, resolver: unknown): object;
  };
}

declare const loadLazyModule: <Name extends keyof LazyModules>(name: Name) => LazyModules[Name];

/** A getter of a module's exports that evaluates the module on the first call. */
export function lazyModule<Name extends keyof LazyModules>(name: Name): () => LazyModules[Name] {
  let file: LazyModules[Name] | null = null;
  return () => (file ??= loadLazyModule(name));
}
