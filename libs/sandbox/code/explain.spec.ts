/** What is said of code that fails: the same place as a browser's engine names, and a sentence that helps. */
import { createContext, runInContext } from 'node:vm';
import { afterAll, describe, expect, it } from '@jest/globals';
import { explained } from './explain.js';
import { jobOf, pageOf } from '../kit.contract.js';
import { createQuickJsSandbox } from '../quickjs.js';
import type { SandboxFailure } from '../sandbox.js';

const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
afterAll(() => sandbox.close());

async function failureOf(code: string, page = pageOf('<p id="a">1</p><ul><li>x</ul>')): Promise<SandboxFailure> {
  const checked = await sandbox.check(code);
  if (!checked.ok) throw new Error(`${code}: ${checked.message}`);
  const result = await sandbox.evaluate(jobOf(code, { form: checked.form, page }));
  if (result.ok) throw new Error(`${code}: answered ${result.outcome}`);
  return result.failure;
}

describe('code that ends before it is whole', () => {
  it.each([
    ['return (', 1, 9],
    ['const a = {\n  b: 1,', 2, 8],
    ['() => {', 1, 8],
  ])('is told so of %j at its end, without a letter that was put around it', async (code, line, column) => {
    expect(await sandbox.check(code)).toEqual({ ok: false, message: 'the code ends too early', line, column });
  });
});

/** The line on which V8 says that the code throws, on a page on which nothing is found. */
async function lineInV8(code: string): Promise<number> {
  const checked = await sandbox.check(code);
  if (!checked.ok) throw new Error(checked.message);
  const source =
    checked.form === 'script'
      ? `\n${code}`
      : `(${checked.form === 'body' ? '() => {' : ''}\n${code}\n${checked.form === 'body' ? '}' : ''})`;
  const document = { querySelector: () => null, getElementById: () => null, querySelectorAll: () => [] };
  const context = createContext({ document, page: { previous: null } });
  try {
    const value: unknown = runInContext(source, context, { filename: 'evaluation.js' });
    await (typeof value === 'function' ? (value as (...args: unknown[]) => unknown)(document) : value);
  } catch (thrown) {
    const stack = String(Reflect.get(Object(thrown), 'stack'));
    return Number(/evaluation\.js:(\d+):/.exec(stack)?.[1]) - 1;
  }
  throw new Error(`${code}: V8 throws nothing`);
}

/** `¦` stands before the place. */
const throwing: readonly string[] = [
  'const a = null;\na.¦price',
  'const a = null;\nlet b = 1;\nb = a.¦price',
  'const a = null;\nlet b = 1;\nif (a.¦x) b = 2;\ntrue',
  'const a = null;\nfor (const b of a.¦x) b();',
  'const a = null;\nlet b = true;\nwhile (b) {\n  b = false;\n  a.¦x;\n}',
  'const a = null;\nconst b = a === null ?\n  a.¦x : 3;',
  'const a = null;\nthrow a.¦x;',
  'const a = null;\na.¦x = 4;',
  'const a = {};\nlet b = 1;\nb = a.b.¦c.d;',
  'const a = {};\nlet b = a?.b.¦c;',
  'const a = {};\nlet b = `x${\n  a.b.¦c}`;',
  'const a = {};\na.b.¦c++;',
  'const a = {};\nvoid a.b.¦c;',
  'const a = {};\na.b.¦c && 1;',
  'const a = {};\n!(a.b.¦c);',
  'const a = {};\nconst b = 1 + a.b.¦c;',
  'const a = {};\nconst b = { c: 1, d: a.b.¦c };',
  'const a = {};\nconst b = [1, a.b.¦c];',
  'const a = {};\nconst f = (x) => x;\nf(1);\nf(\n  a.b.¦c);',
  'const s = "x";\nconst n = s.nope.¦toFixed();',
  'const f = (x) => x.a.¦b;\nlet q = 5;\nf(q);',
  'function f() {\n  const q = 1;\n\n  return q.z.¦w;\n}\nf();',
  'const f = function named(a) {\n  return a.b.¦c;\n};\nf(1);',
  'const f = (a) =>\n\n  (b) => a.b.¦c;\nf(1)(2);',
  '[1, 2].map((x) =>\n  x.y.¦z);',
  '[3, 2].sort((p, q) => p.x.¦y - q.x.y);',
  '"a".replace(/a/, (m) => m.b.¦c);',
  'class Q {\n  m() {\n    const z = 1;\n    return z.y.¦w;\n  }\n}\nnew Q().m();',
  'const o = { get k() {\n  return this.a.¦b;\n} };\no.k;',
  'document.querySelector("#no").¦textContent',
  'const a = document.querySelectorAll("li");\nconst b = document.querySelector("#no").¦textContent;\nb === "x"',
  'const price = document\n  .querySelector("#no")\n  .¦textContent\n  .trim();',
  '(document) => {\n  const el = document.querySelector("#no");\n  const x = 1;\n  return el.¦textContent === "x";\n}',
  '(document) => document.getElementById("no").¦value === "1"',
  'function (document) {\n  let sum = 0;\n  for (let i = 0; i < 3; i++) sum += document.querySelectorAll("b")[i].¦length;\n  return sum > 3;\n}',
  'const el = document.querySelector("#no");\nif (el.¦dataset.x) return true;\nreturn false;',
  'const t = document.querySelector("#no");\nconst u = t?.textContent;\nreturn u.¦length > 3;',
  'return page.previous.¦values.value === 3;',
  'async (document) => {\n  await null;\n  const q = document.querySelector("#no");\n  return q.¦foo;\n}',
  'async function f() {\n  const q = 1;\n  await 0;\n  return q.z.¦w;\n}\nf()',
  'Promise.resolve(1).then((x) => {\n  const y = 1;\n  return y.z.¦w;\n}).then(() => true)',
  'let x = 1;\n¦foo(); x === 2',
  'let x = 1;\nx = 1 + ¦nope;',
  'const f = () => {\n  return ¦undefinedName + 1;\n};\nf();',
  'const a = {};\nlet y = ¦b + 1;\nlet b = 3;',
  'let x = 1;\nx.¦foo(); x === 2',
  'const a = {};\na.b.¦c();',
  'const a = { b: {} };\na.b.¦c();',
  'throw new ¦Error("no")',
  'const f = () => {\n  throw new ¦TypeError("mine");\n};\nf();',
  'const f = () => {\n  const e = new ¦Error("made here");\n  return e;\n};\nthrow f();',
  'try {\n  null.¦x;\n} finally {\n  let y = 1;\n}',
  'let n = 0;\nfunction f(o) {\n  n++;\n  if (n > 2) return o.a.¦b;\n  return f(o);\n}\nf({});',
  'switch (1) {\n  case 1:\n    ({}).a.¦b;\n}',
  'label: for (const x of [1]) {\n  const y = x.a.¦b;\n}',
  'const f = (a, b = a.x.¦y) => b;\nf(1);',
  'const { a } = { a: null };\na.¦b;',
];

describe('the place of an error', () => {
  it.each(throwing)('points to what failed, on the line that a browser’s engine names: %j', async (marked) => {
    const before = marked.slice(0, marked.indexOf('¦')).split('\n');
    const code = marked.replace('¦', '');
    const { line, column } = await failureOf(code);
    expect([line, column]).toEqual([before.length, (before.at(-1) ?? '').length + 1]);
    expect(line).toBe(await lineInV8(code));
  });

  it('points to a single throw statement where the thrown value is no error', async () => {
    expect(await failureOf('const a = 1;\nif (a) throw { code: 3 };')).toMatchObject({
      message: 'The code threw an object, which is not an Error.',
      line: 2,
      column: 8,
    });
    expect(await failureOf('\n  throw 42')).toMatchObject({ line: 2, column: 3 });
    expect(await failureOf('throw document.body')).toMatchObject({ message: expect.stringContaining('not an Error') });
  });

  it('stays as the engine reported it where acorn reads the code differently', () => {
    const failure = { reason: 'threw', message: 'TypeError: not a function', line: 1, column: 3 } as const;
    expect(explained(failure, '<!-- no', 'function', '    at <eval> (evaluation.js:2:3)')).toEqual(failure);
  });

  it('is found in large code as well', async () => {
    const large = `const a = {};\n${'[a, 1, "x", (b) => b.c];\n'.repeat(2_400)}a.b.c;`;
    expect(await failureOf(large)).toMatchObject({ line: 2_402, column: 5 });
  });
});

describe('the message of an error', () => {
  it.each([
    ['let x = { y: {} };\nx.y.foo()', 'TypeError: x.y.foo is not a function'],
    ['document.querySelector("p").nope()', 'TypeError: document.querySelector("p").nope is not a function'],
    ['const a = {}; [...a]', 'TypeError: a is not iterable'],
    [
      'for (const x of document.querySelector("#no")) {}',
      'TypeError: document.querySelector("#no") is null, which is not iterable',
    ],
    ['[1].map(3)', 'TypeError: not a function'],
    ['throw new TypeError("not a function")', 'TypeError: not a function'],
    ['const all = document.links;\nall.filter(Boolean)', 'TypeError: all.filter is not a function'],
  ])('names what failed: %j', async (code, message) => {
    expect((await failureOf(code)).message).toBe(message);
  });
});

describe('the hint for an error', () => {
  const hints: readonly (readonly [string, string])[] = [
    ['document.querySelector("#no").textContent', 'no element matches `"#no"`'],
    ['const el = document.querySelector(".x > y");\nconst other = el;\nreturn other.textContent === "";', '".x > y"'],
    ['document.getElementById("no").value', 'no element has that id'],
    ['document.querySelector("p").getAttribute("x").trim()', 'no such attribute'],
    ['document.querySelector("p").textContent.match(/z+/)[0]', 'the pattern does not occur'],
    ['document.querySelectorAll("li")[7].textContent', 'the list has no such item'],
    ['document.querySelector("p").closest("table").rows', 'no element around it'],
    ['document.querySelector("li").nextElementSibling.textContent', 'there is no such element'],
    ['return page.previous.values.value === 3', 'page.previous?.values'],
    ['document.querySelectorAll("li").map((li) => li.textContent)', '[...document.querySelectorAll("li")].map(…)'],
    ['const all = document.getElementsByTagName("li");\nall.filter(Boolean)', '[...all].filter(…)'],
    ['document.querySelector("p").textContent()', 'leave the brackets away'],
    ['document.querySelector("p").html()', 'jQuery'],
    ['document.getElementByID("a")', 'Did you mean `getElementById`?'],
    ['document.queryselector("a")', 'Did you mean `querySelector`?'],
    ['parseint("3")', 'Did you mean `parseInt`?'],
    ['$(".price").text()', 'no jQuery'],
    ['$x("//p")', 'document.evaluate'],
    ['require("fs")', 'Node.js'],
    ['const a = 1; a = 2; true', '`let`'],
    ['let y = b;\nlet b = 3;', 'above the line that declares it'],
    ['document.querySelector("li:contains(x)")', 'textContent'],
    ['document.querySelector("//li")', 'XPath'],
    ['document.querySelector(".1a")', 'CSS.escape'],
    ['document.querySelector("li[")', 'not closed'],
    ['"true"', "=== 'true'"],
    ['12', '=== 12'],
    ['null', '!== null'],
    ['document.querySelector("p")', '!== null'],
    ['document.querySelectorAll("p")', '.length > 0'],
    ['[1]', '.length > 0'],
    ['let a = 1;\na = 2', '`=` assigns'],
    ['const a = 1;', 'The value of the last line counts'],
    ['(document) => { document.title === "x" }', 'between braces it needs one'],
    ['(document) => { if (document.title === "x") return true; }', 'Not every way'],
    ['if (document.title === "x") return true;', 'Not every way'],
    ['return;', 'No `return` has a value'],
    ['const { a } = document.querySelector("#no");', 'taken apart'],
    ['import("x")', 'no modules'],
  ];
  it.each(hints)('explains %j: %s', async (code, said) => {
    expect((await failureOf(code)).hint ?? '').toContain(said);
  });

  it('is missing where there is nothing to add', async () => {
    expect(await failureOf('throw new Error("mine")')).not.toHaveProperty('hint');
    expect(await failureOf('(() => null)().x')).not.toHaveProperty('hint');
  });
});
