/** What few scripts use is kept as text and read when it is first asked for: each run copies what is in the image. */

/** What is asked of such files, by their names. Said here, because they import from those who ask. */
interface LaterFiles {
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
  readonly 'rare-nodes': {
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

declare const loadLater: <Name extends keyof LaterFiles>(name: Name) => LaterFiles[Name];

/** The exports of a file of the prelude that is read when this is first called. */
export function later<Name extends keyof LaterFiles>(name: Name): () => LaterFiles[Name] {
  let file: LaterFiles[Name] | null = null;
  return () => (file ??= loadLater(name));
}
