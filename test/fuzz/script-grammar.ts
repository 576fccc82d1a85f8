/** Scripts that read pages, and scripts that mean harm, mixed: each a piece of source text. */
import fc from 'fast-check';

/** What code may hold on to: never a thing of the host. Each is tried as it stands, its answer reported. */
export const escapes: readonly string[] = [
  'typeof process',
  'typeof require',
  'typeof global',
  'typeof module',
  'typeof Buffer',
  'typeof Deno',
  'typeof WebAssembly',
  'typeof hostMarkupParser',
  'typeof guestEntry',
  '[].constructor.constructor("return typeof process")()',
  '(async () => {}).constructor("return typeof process")().then((found) => page.report("escape", found))',
  '(function* () {}).constructor("yield typeof process")().next().value',
  'document.constructor.constructor("return typeof process")()',
  'page.report.constructor("return typeof require")()',
  'console.log.constructor("return typeof process")()',
  'Object.getPrototypeOf(page.number).constructor("return typeof process")()',
  '(0, eval)("typeof process")',
  'new Function("return typeof globalThis.process")()',
  'Reflect.construct(Function, ["return typeof process"])()',
  'typeof (function () { return this })().process',
  'typeof document.defaultView.process',
  'typeof new Proxy(globalThis, {}).process',
  'typeof Object.getOwnPropertyDescriptor(globalThis, "process")',
  'Object.getOwnPropertyNames(globalThis).filter((name) => /^(process|require|module|global|host.*|wasm.*)$/i.test(name)).join()',
  '(() => { try { null.x } catch (error) { return typeof error.constructor.constructor("return typeof process")() } })()',
  '(() => { try { document.querySelector("[[") } catch (error) { return error.constructor.constructor("return typeof process")() } })()',
  '(() => { const f = () => f(); try { f() } catch (error) { return error.constructor.constructor("return typeof process")() } })()',
  '(() => { Error.prepareStackTrace = (_, frames) => frames; const { stack } = new Error("x"); return typeof stack === "string" ? typeof process : stack.map((frame) => typeof frame.getThis?.()?.process).join() })()',
  'structuredClone.constructor("return typeof process")()',
  'DOMParser.prototype.parseFromString.constructor("return typeof process")()',
];

const names = fc.constantFrom('a', 'b', 'c', 'price', 'item');
const numbers = fc.oneof(
  fc.integer({ min: -5, max: 50 }).map(String),
  fc.constantFrom(
    '0',
    '-0',
    '1e9',
    '2 ** 31',
    '2 ** 53 - 1',
    'NaN',
    'Infinity',
    '4294967296',
    '-1',
    '0.1',
    '10n ** 30n',
  ),
);
const strings = fc.oneof(
  fc.string({ maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '""',
    '"\\0"',
    '"\\ud800"',
    '"x".repeat(1e5)',
    '"\\u202e"',
    '"toString"',
    '"__proto__"',
    '"constructor"',
    '"then"',
    '"1.299,00 €"',
    '"<b>x</b>"',
    '"<svg><a>"',
    '"<table><tr><td>"',
  ),
);

const simpleSelector = fc.constantFrom(
  '*',
  'div',
  'p',
  'li',
  '.a',
  '#b',
  '[data-x]',
  '[class~="a" i]',
  ':root',
  ':empty',
  ':first-child',
  'svg|a',
  'a:link',
  '::before',
  ':nope',
  '[[',
  ':nth-child(2n+1 of .a)',
  ':nth-last-of-type(-n+3)',
  'td',
  'option:checked',
  ':not(:has(b))',
  '\\31 23',
  ':is(',
  '"',
  ':lang(en)',
  ':scope > *',
  ':where()',
);
const selectors = fc.oneof(
  simpleSelector,
  fc
    .array(simpleSelector, { minLength: 2, maxLength: 5 })
    .chain((parts) => fc.constantFrom(' ', '>', '+', '~', ', ').map((by) => parts.join(by))),
  simpleSelector.map((inner) => `:has(${inner})`),
  fc.integer({ min: 1, max: 400 }).map((depth) => `${':not('.repeat(depth)}a${')'.repeat(depth)}`),
  fc.integer({ min: 1, max: 60 }).map((count) => Array.from({ length: count }, () => ':has(*)').join(' ')),
  fc.string({ maxLength: 20 }),
);
const xpaths = fc.constantFrom(
  '//*',
  '//li[position() mod 2 = 1]',
  'count(//a)',
  'string(//p)',
  '//*[//*[//*]]',
  '(((',
  '//@*',
  'ancestor::*[1]/following::*',
  '"',
  '//text()[contains(., "x")]',
  'id("b")',
);

const { expression } = fc.letrec<{ expression: string; node: string; list: string; value: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'document',
      'document.body',
      'document.documentElement',
      'document.head',
      'document.createElement("div")',
      'document.createDocumentFragment()',
      'new DOMParser().parseFromString("<p>x", "text/html")',
      'document.createElement("template").content',
    ),
    selectors.map((selector) => `(document.querySelector(${JSON.stringify(selector)}) ?? document.body)`),
    tie('node').map((node) => `(${node}.cloneNode?.(true) ?? document)`),
    tie('node').map((node) => `(${node}.parentNode ?? document)`),
    tie('list').map((list) => `(${list}[0] ?? document)`),
  ),
  list: fc.oneof(
    { depthSize: 'small' },
    fc.tuple(tie('node'), selectors).map(([node, selector]) => `${node}.querySelectorAll(${JSON.stringify(selector)})`),
    tie('node').map((node) => `[...${node}.childNodes]`),
    tie('node').map((node) => `${node}.getElementsByTagName("*")`),
    fc.constantFrom('document.forms', 'document.links', 'document.images', 'Array.from({ length: 50 }, (_, at) => at)'),
  ),
  value: fc.oneof(
    { depthSize: 'small' },
    strings,
    numbers,
    tie('node').chain((node) =>
      fc
        .constantFrom(
          'textContent',
          'innerText',
          'innerHTML',
          'outerHTML',
          'tagName',
          'attributes.length',
          'dataset',
          'classList',
          'href',
          'value',
          'nodeType',
          'isConnected',
          'children.length',
        )
        .map((name) => `${node}.${name}`),
    ),
    tie('list').map((list) => `${list}.length`),
    tie('list').map((list) => `Array.from(${list}, (each) => each?.textContent).join()`),
    fc.constantFrom(
      'page.text',
      'page.url',
      'page.headers',
      'page.state',
      'page.previous',
      'page',
      'location.href',
      'document.title',
      'Math.random()',
      'Date.now()',
      'new Date()',
      'globalThis',
      'this',
      'console',
      'undefined',
      'null',
      'true',
      'Symbol.iterator',
      'new Map([[1, 2]])',
      '/(a+)+$/',
    ),
    strings.map((text) => `page.number(${text})`),
    fc.constantFrom(
      'page.json()',
      'structuredClone(page.headers)',
      'new URL("/x", location.href).href',
      'new TextEncoder().encode(page.text).length',
      'new URLSearchParams("a=1&b").toString()',
      'getComputedStyle(document.body)',
    ),
    xpaths.map((path) => `document.evaluate(${JSON.stringify(path)}, document, null, 0, null).resultType`),
  ),
  expression: fc.oneof(
    { depthSize: 'small' },
    tie('value'),
    tie('node'),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '===', '>', '&&', '||', '??', 'in', 'instanceof', ','),
        tie('expression'),
      )
      .map(([left, sign, right]) =>
        sign === '??' || sign === '||' || sign === '&&'
          ? `((${left}) ${sign} (${right}))`
          : `(${left} ${sign} ${right})`,
      ),
    tie('expression').map((inner) => `String(${inner})`),
    tie('expression').map((inner) => `JSON.stringify(${inner})`),
    tie('expression').map((inner) => `({ get x() { return ${inner} }, toString() { return ${inner} } })`),
    tie('expression').map(
      (inner) =>
        `new Proxy(Object(${inner}), { get: (target, name) => target[name] ?? name, ownKeys: () => ["a", "a2"], has: () => true })`,
    ),
    tie('expression').map((inner) => `((f) => f(f, 0))((f, n) => (n < 30 ? f(f, n + 1) : ${inner}))`),
  ),
}));

/** What breaks a weaker sandbox. Each ends by a limit, or does nothing. */
const harms = fc.constantFrom(
  'for (;;);',
  'while (true) { try { throw 1 } catch {} finally { continue } }',
  '(function f() { f() })()',
  'const deep = (n) => [n].map(deep); deep(0)',
  'const f = () => Promise.resolve().then(f); f()',
  'for (let at = 0; at < 1e5; at++) Promise.resolve().then(() => page.text)',
  '(async () => { for (;;) await null })()',
  'let s = "x"; for (;;) s += s',
  'const all = []; for (;;) all.push(new Array(1e4).fill(all.length))',
  'const all = []; for (;;) all.push("x".repeat(1e6) + all.length)',
  'const all = new Map(); for (let at = 0; ; at++) all.set(at, {})',
  '/^(a+)+$/.test("a".repeat(40) + "b")',
  '/(x+x+)+y/.test("x".repeat(1e4))',
  '"a".repeat(1e5).replace(/(.*)*b/g, "$1")',
  '"x".repeat(2 ** 29)',
  'new Uint8Array(2 ** 30)',
  'new ArrayBuffer(2 ** 53 - 1)',
  'new Array(1e9) + ""',
  'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
  'const far = []; far[4e9] = 1; far.length = 4e9; far.sort()',
  'let nest = []; for (let at = 0; at < 1e5; at++) nest = [nest]; page.report("value", nest)',
  'let twice = []; for (let at = 0; at < 40; at++) twice = [twice, twice]; page.report("value", twice)',
  '10n ** 10n ** 6n',
  '"x".padEnd(1e8, "ab").normalize("NFKD")',
  'page.report("value", { toJSON() { for (;;); } })',
  'page.report({ toString() { for (;;); } }, 1)',
  'page.state = { toJSON: () => ({ x: "y".repeat(1e5) }) }',
  'page.state.self = page.state',
  'throw { get message() { for (;;); }, get stack() { return page.text } }',
  'throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { for (;;); } })',
  'throw null',
  'throw new (class extends Error { get name() { throw this } })("x")',
  'console.log("x".repeat(1e5))',
  'for (;;) console.log(document.body)',
  'console.log({ get outerHTML() { for (;;); } })',
  'import("fs")',
  'import("./prelude.js")',
  'new Promise(() => {})',
  '({ then() {} })',
  '({ get then() { return (resolve) => resolve(this) } })',
  'const loop = { then(resolve) { resolve(loop) } }; loop',
  'document.body.innerHTML = "<b><i>".repeat(1e3)',
  'document.body.innerHTML = "<div>".repeat(1e5)',
  'for (;;) document.body.append(document.createElement("p"))',
  'for (;;) document.body.innerHTML += "<p>x"',
  'document.body.append(document.documentElement)',
  'const box = document.createElement("a"); box.append(box)',
  'for (const each of document.getElementsByTagName("*")) document.body.append(each.cloneNode(true))',
  'new DOMParser().parseFromString("<a ".repeat(1e5), "text/html")',
  'new DOMParser().parseFromString("<!DOCTYPE x [<!ENTITY a \\"b\\">]><x>&a;</x>", "application/xml")',
  'document.createTreeWalker(document, NodeFilter.SHOW_ALL, () => { for (;;); }).nextNode()',
  'Object.defineProperty(Object.prototype, "polluted", { get() { for (;;); } })',
  'Array.prototype.push = Array.prototype.join = () => { throw 1 }',
  'JSON.stringify = () => "{\\"ok\\":true,\\"outcome\\":true}"',
  'Promise.prototype.then = function () { for (;;); }',
  'Symbol.prototype[Symbol.toPrimitive] = null; String.prototype.charCodeAt = null; RegExp.prototype.exec = null',
  'Object.prototype.toJSON = () => ({ ok: true })',
  'Object.setPrototypeOf(Array.prototype, new Proxy({}, { get() { throw 1 } }))',
  'Object.prototype.__proto__ = null; Object.freeze(Object.prototype); delete Array.prototype[Symbol.iterator]',
  'globalThis.document = globalThis.page = undefined; delete globalThis.console',
  'Date = Math = Object = null',
  'String.prototype[Symbol.iterator] = function* () { for (;;) yield "x" }; [..."x"]',
  'Error.stackTraceLimit = 1e9; Error.prepareStackTrace = () => { for (;;); }; new Error("x").stack',
  'typeof SharedArrayBuffer === "function" && typeof Atomics === "object" && Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e6)',
  'new FinalizationRegistry(() => { for (;;); }).register({}, 1); new WeakRef({}).deref()',
  'function* endless() { for (;;) yield 1 } [...endless()]',
  'class A { static #x = new A(); constructor() { new A() } } new A()',
  'label: for (;;) { continue label }',
  'eval("(".repeat(1e5))',
  'new Function("a".repeat(1e6), "return 1")',
  'new RegExp("(".repeat(1e4) + ")".repeat(1e4))',
  'new RegExp("(?:a{1,1000}){1,1000}").test("a".repeat(1e4))',
  '"x".localeCompare("y", "zz-zz-zz"); (1e21).toLocaleString(); [].toLocaleString()',
  'JSON.parse("[".repeat(1e5))',
  'JSON.parse("{\\"__proto__\\":{\\"polluted\\":1}}"); structuredClone(globalThis)',
  'escape("\\ud800"); decodeURIComponent("%"); encodeURIComponent("\\udc00")',
  'new URL("http://" + "a.".repeat(1e5)); new URL("x:" + "/..".repeat(1e5))',
  'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = null',
);

/** Left behind on purpose: the next run must not see it. */
export const pollution =
  'globalThis.polluted = 1; try { Object.prototype.polluted = Array.prototype.polluted = 1; String.prototype.trim = () => "polluted"; document.polluted = 1; Math.max = () => "polluted"; console.polluted = 1 } catch {}';
/** Reports what an earlier run left. */
export const lookForPollution =
  'if (typeof polluted !== "undefined" || "polluted" in {} || "polluted" in document || " x ".trim() !== "x" || Math.max(1, 2) !== 2 || "polluted" in console) page.report("leaked", "yes");';

const statement = fc.oneof(
  { weight: 6, arbitrary: expression.map((text) => `page.report("value", ${text});`) },
  { weight: 3, arbitrary: expression.map((text) => `console.log(${text});`) },
  { weight: 2, arbitrary: expression.map((text) => `page.report("value", await Promise.resolve(${text}));`) },
  { weight: 3, arbitrary: fc.tuple(names, expression).map(([name, text]) => `var ${name} = ${text};`) },
  {
    weight: 2,
    arbitrary: fc.tuple(names, expression).map(([name, text]) => `page.state[${JSON.stringify(name)}] = ${text};`),
  },
  { weight: 3, arbitrary: fc.constantFrom(...escapes).map((text) => `page.report("escape", ${text});`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...escapes), harms)
      .map(([text, harm]) => `try { ${harm} } catch (error) { page.report("escape", ${text}) }`),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(expression, strings).map(([target, text]) => `document.body.innerHTML = ${text}; (${target});`),
  },
  { weight: 2, arbitrary: expression.map((text) => `for (let at = 0; at < 20; at++) { ${text} }`) },
  {
    weight: 2,
    arbitrary: expression.map(
      (text) => `try { ${text} } catch (error) { console.error(error) } finally { page.report("done", 1) }`,
    ),
  },
  {
    weight: 1,
    arbitrary: expression.map(
      (text) =>
        `Array.from(document.querySelectorAll("*"), (each) => { try { each.remove(); return ${text} } catch { return each } });`,
    ),
  },
);

const ending = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('true', 'document.title.length >= 0', 'false') },
  { weight: 2, arbitrary: expression },
  { weight: 1, arbitrary: harms },
);

export interface Script {
  readonly form: 'function' | 'body' | 'script';
  readonly code: string;
}

const asForm = (form: Script['form'], statements: readonly string[], last: string): string => {
  const before = [lookForPollution, ...statements].join('\n');
  const isExpression = !/^(for|while|let|const|class|label|throw|function\b)/.test(last);
  const answer = isExpression ? `return ${last}` : `${last}\nreturn true`;
  if (form === 'function') return `async (document, page) => {\n${before}\n${answer}\n}`;
  return form === 'body' ? `${before}\n${answer}` : `${before}\n${last}`;
};

export const script: fc.Arbitrary<Script> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(
        fc.constantFrom<Script['form']>('function', 'body', 'script'),
        fc.array(statement, { maxLength: 5 }),
        fc.option(harms, { freq: 5 }),
        fc.boolean(),
        ending,
      )
      .map(([form, statements, harm, pollutes, last]): Script => {
        const all = [...statements, ...(pollutes ? [pollution] : []), ...(harm === null ? [] : [harm])];
        return { form, code: asForm(form, all, last) };
      }),
  },
  // No code at all: whatever it is, it is read, refused or run.
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom<Script['form']>('function', 'body', 'script'),
        fc.string({ unit: 'binary', maxLength: 80 }),
      )
      .map(([form, code]): Script => ({ form, code })),
  },
);
