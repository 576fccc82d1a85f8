/** Where the host enters the sandbox. Evaluated once, when the image is made; nothing here is reachable by user code. */
import { installUnsupportedApis } from './unsupported-apis.js';
import { installDeterminism, startClock } from './determinism.js';
import { pageFacts } from './documents.js';
import { installLanguages } from './languages.js';
import { evaluationJson, scriptJson, thrownJson, unsettledJson } from './outcome.js';
import { createConsole, startOutput } from './output.js';
import { openPage, stateNow } from './page.js';
import { installParser } from './parse-markup.js';
import type { PageFacts } from './page.js';
import { loadAttributes } from './attribute-values.js';
import { readTables } from './flat-tables.js';
import { loadNames } from './name-table.js';
import { loadIndexes } from './page-indexes.js';
import { loadTree } from './tree.js';
import { installDom, openDocument } from './window.js';

type Form = 'function' | 'body' | 'script';

interface Settings {
  readonly form: Form;
  readonly seed: string;
  readonly nowMs: number;
  readonly outputBytes: number;
  readonly stateBytes: number;
}

type EvaluationSettings = Settings & PageFacts & { readonly contentKind: string };
type ScriptSettings = Settings & { readonly globals: Readonly<Record<string, unknown>> };

const parseJson = JSON.parse;
const apply = Reflect.apply;

let form: Form = 'script';
let handedOver: unknown[] = [];
let pageText = '';
let finish: (value: unknown) => string = () => '';
let settled: string | null = null;

const globals = globalThis as unknown as Record<string, unknown>;

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true });
}

function start(settings: Settings): void {
  form = settings.form;
  startClock(settings.nowMs, settings.seed);
  startOutput(settings.outputBytes);
}

function settle(value: unknown): string | null {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  if (!isObject || typeof (value as { then?: unknown }).then !== 'function') return finish(value);
  void (async () => {
    try {
      settled = finish(await value);
    } catch (thrown) {
      settled = thrownJson(thrown);
    }
  })();
  return null;
}

export const guestEntry = {
  /** What is the same for all code on a page; from here the memory may be imaged for what comes next on it. */
  loadPage(parts: readonly [ArrayBuffer, string, string, string, string, string, string]): void {
    const [buffer, text, values, names, classes, ids, body] = parts;
    const tables = readTables(buffer);
    loadNames(names);
    loadTree(tables, text, values);
    loadAttributes(tables, values);
    loadIndexes(tables, classes, ids);
    pageText = body;
  },

  openPage(parts: readonly [string]): void {
    const settings = parseJson(parts[0]) as EvaluationSettings;
    start(settings);
    if (settings.contentKind !== 'html') {
      const type = /^[\w.+-]+\/[\w.+-]+/.exec(settings.headers['content-type'] ?? '');
      if (type !== null) pageFacts.contentType = type[0].toLowerCase();
    }
    const document = openDocument(settings.finalUrl, settings.url);
    const queried = document as { querySelector(selector: string): { closest(selector: string): unknown } | null };
    const page = openPage(settings, pageText, settings.nowMs, (selector) => queried.querySelector(selector));
    globals['document'] = document;
    globals['page'] = page;
    handedOver = [document, page];
    finish = (value) => evaluationJson(value, stateNow(), settings.stateBytes);
  },

  openScript(parts: readonly [string]): void {
    const settings = parseJson(parts[0]) as ScriptSettings;
    start(settings);
    for (const name of Object.keys(settings.globals)) define(name, settings.globals[name]);
    handedOver = Object.values(settings.globals);
    finish = (value) => scriptJson(value, settings.outputBytes);
  },

  /** Takes what the source evaluated to: the value of a script, else a function to call. */
  conclude(value: unknown): string | null {
    if (form === 'script') return settle(value);
    if (typeof value !== 'function') throw new TypeError('The code is not a function.');
    return settle(form === 'function' ? apply(value, undefined, handedOver) : apply(value, globalThis, []));
  },

  /** As `conclude`, for a script with `await` at its top: the engine wraps its last value. */
  concludeAwaited(promise: Promise<{ value: unknown }>): string | null {
    return settle((async () => (await promise).value)());
  },

  settled(): string | null {
    return settled;
  },

  fail(thrown: unknown): string {
    return thrownJson(thrown);
  },

  neverSettled(): string {
    return unsettledJson();
  },
};

installDeterminism();
installLanguages();
installDom();
installUnsupportedApis();
installParser();
Object.defineProperty(globalThis, 'console', {
  value: createConsole(),
  writable: true,
  enumerable: false,
  configurable: true,
});
