/** Code that breaks the built-ins around it, or reports more levels than can be recorded: the fault is its own. */
import { afterAll, describe, expect, it } from '@jest/globals';
import { asking, reasonOf } from './kit.contract.js';
import { createQuickJsSandbox } from './quickjs.js';
import { defaultSandboxLimits } from './sandbox.js';

const prototypes = '[Array, String, Object, Function, Promise, RegExp, Map, Set, WeakMap, Number, Boolean, Error]';

/** Ways to break what the code, the page and the result are made with. */
const breaks: readonly string[] = [
  'String = 1',
  'String = (text) => text',
  'String = () => 5',
  'JSON = null',
  'JSON.parse = null; JSON.stringify = () => ({})',
  'Object = null',
  'Symbol = null; Proxy = null; Reflect = 0',
  'Map = Set = WeakMap = null; Uint8Array = Int32Array = null',
  'Error = TypeError = RangeError = 1',
  'Math = 0; Number = 0; isNaN = 0; parseInt = 0',
  'Array.prototype.map = 0; Array.prototype.push = 0',
  'Array.prototype.join = () => 5',
  'Array.prototype[Symbol.iterator] = null',
  'Array.prototype[Symbol.iterator] = () => ({ next: () => ({ value: {}, done: true }) })',
  'Object.defineProperty(Array.prototype, Symbol.iterator, { get() { throw 1 } })',
  'Object.defineProperty(Array.prototype, "0", { set() { throw 1 }, get() { throw 2 } })',
  'Object.defineProperty(Object.prototype, "0", { set() { throw 1 }, get() { throw 2 } })',
  'Object.defineProperty(Object.prototype, "then", { get() { throw 1 }, configurable: true })',
  'Object.defineProperty(Object.prototype, "toJSON", { get() { throw 1 } })',
  'Object.defineProperty(Object.prototype, "value", { get() { throw 1 } })',
  'Object.defineProperty(Object.prototype, "get", { get() { throw 1 } })',
  'Object.defineProperty(Object.prototype, "nodeType", { get() { throw 1 } })',
  'Object.defineProperty(Error.prototype, "message", { get() { throw 1 } })',
  'Object.prototype.get = Object.prototype.set = Object.prototype.value = 1',
  'Object.keys = Object.entries = Object.fromEntries = Object.getOwnPropertyDescriptor = 0; Object.getPrototypeOf = 0',
  'Object.defineProperty = () => { throw 1 }',
  'Object.freeze(Object.prototype); Object.freeze(globalThis)',
  'Object.setPrototypeOf(Array.prototype, new Proxy([], { get() { throw 1 }, has() { throw 2 } }))',
  'Object.setPrototypeOf(document, new Proxy({}, { get() { throw 1 } }))',
  'Object.setPrototypeOf(page, null)',
  'String.prototype.slice = String.prototype.split = String.prototype.charCodeAt = null',
  'String.prototype.toLowerCase = () => ({}); String.prototype.toUpperCase = () => 5',
  'RegExp.prototype.exec = () => { throw 1 }; RegExp.prototype[Symbol.replace] = null',
  'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = null',
  'Promise = 0',
  'Promise.prototype.then = () => { throw 1 }',
  'Promise.prototype.then = (settle) => settle(`{"ok":true}`)',
  'Error.prepareStackTrace = () => { throw 1 }',
  'Error.prototype.name = { toString() { throw 1 } }',
  'console = null; page.report = null',
  `for (const each of ${prototypes}) for (const key of Reflect.ownKeys(each.prototype))
     try { each.prototype[key] = 1 } catch {}`,
  `for (const each of ${prototypes}) for (const key of Reflect.ownKeys(each.prototype))
     try { Object.defineProperty(each.prototype, key, { get() { throw 1 }, set() { throw 2 } }) } catch {}`,
  'for (const name of Object.getOwnPropertyNames(globalThis)) try { globalThis[name] = null } catch {}',
  'for (const name of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[name] } catch {}',
  'for (const key of Reflect.ownKeys(Node.prototype)) try { Object.defineProperty(Node.prototype, key, { get() { throw 1 } }) } catch {}',
];

/** Uses of the page and of the result, run on what was broken. */
const uses: readonly string[] = [
  'page.state = { a: [1] }; page.report("v", { b: 1 }); console.log("x", { c: [1] }); true',
  'document.querySelector("h1").textContent.includes("Hello")',
  'document.body.innerHTML = {}; true',
  'new DOMParser().parseFromString("<a><b/></a>", "text/xml").documentElement.innerHTML = "<c/>"; true',
  'document.createRange().createContextualFragment(["<p>x</p>"]).childNodes.length === 1',
  'throw new Error("x")',
  'await null; throw { message: "x", stack: 5 }',
  '(async () => { await null; return true })()',
  'import("x"); 5',
];

/** Or its time or memory, where what it broke makes the page's own code go on without end. */
const ofTheCode =
  /^(?:outcome (?:true|false)|threw|not_boolean|never_settled|cpu_limit|memory_limit|output_limit|state_limit)$/;
const limits = { ...defaultSandboxLimits, cpuMs: 500 };
const nested = (levels: number): string => `let nest = []; for (let at = 1; at < ${levels}; at++) nest = [nest];`;

describe('hostile code', () => {
  const deaths: string[] = [];
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0, onDeath: (why) => deaths.push(why) });
  const { evaluate } = asking(() => sandbox);
  const script = (code: string) =>
    sandbox.runScript({ code, form: 'script', globals: {}, seed: 's', nowMs: 0, limits: defaultSandboxLimits });
  afterAll(() => sandbox.close());

  it.each(breaks)('that breaks built-ins is at fault itself, in whatever it does next: %s', async (broken) => {
    for (const use of uses) {
      const result = await evaluate(`${broken};\n${use}`, { limits });
      expect(reasonOf(result)).toMatch(ofTheCode);
      expect(result).not.toMatchObject({ failure: { endedFromOutside: true } });
    }
    const scripted = await script(`${broken};\n({ a: 1 })`);
    expect(scripted.ok ? 'outcome true' : scripted.failure.reason).toMatch(ofTheCode);
    expect(reasonOf(await evaluate('document.title === "The shop"'))).toBe('outcome true');
    expect(deaths).toEqual([]);
  });

  it.each(['String = (text) => text', 'String = () => 5'])(
    'that hands something else than text to the parser fails with what it threw: %s',
    async (broken) => {
      expect(await evaluate(`${broken}; document.body.innerHTML = {}; true`)).toMatchObject({
        ok: false,
        failure: { reason: 'threw', message: 'The code broke the built-ins that markup is read with.' },
      });
    },
  );

  it.each([
    'Array.prototype.join = () => ({ length: -1e9, toJSON: () => "x".repeat(1e5) }); console.log("a", "b"); true',
    'String.prototype.slice = function () { return "x".repeat(1e5) }; throw new Error("y".repeat(5000))',
    'String.prototype.slice = function () { return "x".repeat(1e7) }; throw new Error("y".repeat(5000))',
    'Array.prototype.indexOf = () => 0; for (let at = 0; at < 1e4; at++) page.report("x", at); true',
    'String = () => ({ length: -1e9 }); page.report("x", "y".repeat(60000)); page.report("z", "y".repeat(60000)); true',
  ])('that changes what its output is counted and cut with is at fault itself: %s', async (tampering) => {
    const result = await evaluate(tampering);
    expect(reasonOf(result)).toMatch(ofTheCode);
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
    expect(deaths).toEqual([]);
  });

  it.each([
    'root.setAttributeNS("http://www.w3.org/2000/xmlns/", "xmlns:xml", "q")',
    'root.setAttributeNS("http://www.w3.org/2000/xmlns/", "xmlns:xmlns", "q")',
    'root.setAttributeNS("http://www.w3.org/2000/xmlns/", "xmlns:a", "http://www.w3.org/2000/xmlns/")',
    'root.setAttributeNS("http://www.w3.org/2000/xmlns/", "xmlns:a", "http://www.w3.org/XML/1998/namespace")',
    'root.setAttributeNS("http://www.w3.org/2000/xmlns/", "xmlns", "http://www.w3.org/XML/1998/namespace")',
    'root.setAttributeNS("http://www.w3.org/2000/xmlns/", "xmlns:xml", "http://www.w3.org/2000/xmlns/")',
    'Array.prototype.join = () => "xml\\0q"',
    'Array.prototype.join = () => "\\0http://www.w3.org/2000/xmlns/\\0a"',
  ])('that writes XML among namespaces which XML does not allow is at fault itself: %s', async (around) => {
    const root = 'const root = new DOMParser().parseFromString("<a/>", "text/xml").documentElement';
    expect(reasonOf(await evaluate(`${root}; ${around}; root.innerHTML = "<b/>"; true`))).toMatch(ofTheCode);
  });

  it('reports a value of 64 levels, and fails by its output limit with one of more', async () => {
    expect(reasonOf(await evaluate(`${nested(64)} page.report('deep', nest); true`))).toBe('outcome true');
    for (const levels of [65, 3_000]) {
      const result = await evaluate(`${nested(levels)} page.report('deep', nest); page.report('flat', 1); true`);
      expect(result).toMatchObject({
        ok: false,
        failure: { reason: 'output_limit', message: 'The code reported a value that is nested deeper than 64 levels.' },
      });
      expect(result.values).toEqual({ flat: 1 });
    }
  });

  it('keeps its own failure where it reported too many levels before', async () => {
    const result = await evaluate(`${nested(65)} page.report('deep', nest); throw new Error('mine')`);
    expect(result).toMatchObject({ ok: false, values: {}, failure: { reason: 'threw', message: 'Error: mine' } });
  });

  it('stores a state of 64 levels, and fails by its state limit with one of more', async () => {
    expect(reasonOf(await evaluate(`${nested(63)} page.state = { nest }; true`))).toBe('outcome true');
    for (const levels of [64, 3_000]) {
      expect(await evaluate(`${nested(levels)} page.state = { nest }; true`)).toMatchObject({
        ok: false,
        failure: { reason: 'state_limit', message: 'page.state is nested deeper than 64 levels.' },
      });
    }
  });

  it('returns 64 levels from a script of an action, and fails by its output limit with more', async () => {
    expect(await script(`${nested(64)} nest`)).toMatchObject({ ok: true });
    for (const levels of [65, 3_000]) {
      expect(await script(`${nested(levels)} nest`)).toMatchObject({
        ok: false,
        failure: { reason: 'output_limit', message: 'The code returned a value that is nested deeper than 64 levels.' },
      });
    }
  });

  it('logs text alone, however deep the value is', async () => {
    const result = await evaluate(`${nested(3_000)} console.log(nest); true`);
    expect(result.logs).toHaveLength(1);
  });
});
