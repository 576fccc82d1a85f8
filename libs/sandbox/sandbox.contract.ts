/** What every sandbox promises: an adapter's spec calls this with a way to make one. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '#runtime/json';
import { asking, pageOf, quick, reasonOf, shop } from './kit.contract.js';
import type { CodeForm, Sandbox } from './sandbox.js';

export function describeSandbox(name: string, create: () => Sandbox): void {
  describe(`${name} as a sandbox`, () => {
    let sandbox: Sandbox;
    beforeAll(() => {
      sandbox = create();
    });
    afterAll(() => sandbox.close());

    const { evaluate, valueOf } = asking(() => sandbox);

    describe('parsing code', () => {
      const forms: readonly (readonly [string, CodeForm])[] = [
        ['(document) => document.title === "x"', 'function'],
        ['document => true;', 'function'],
        ['async (document, page) => { return true }', 'function'],
        ['function (document) { return true }', 'function'],
        ['// why\nasync function check(document) { return true }', 'function'],
        ['({ body }, { status } = page) => status === 200', 'function'],
        ['const a = 1;\nreturn a === 1', 'body'],
        ['return await Promise.resolve(true)', 'body'],
        ['if (page.status === 200) { return true } return false', 'body'],
        ['document.title === "x"', 'script'],
        ['const f = () => true;\nf()', 'script'],
        ['(function () { return true })()', 'script'],
        ['function f() { return true }\nf()', 'script'],
        ['a => a, true', 'script'],
        ['await Promise.resolve(true)', 'script'],
        ['"a" // comment', 'script'],
      ];
      it.each(forms)('recognises %j as a %s', async (code, form) => {
        expect(await sandbox.check(code)).toEqual({ ok: true, form });
      });

      const faults: readonly (readonly [string, number, number])[] = [
        ['foo bar', 1, 5],
        ['const a = 1;\nconst b = = 2;', 2, 11],
        ['return document.title(', 1, 23],
        ['(document) => {\n  retrun 1 2;\n}', 2, 10],
        ['}); evil(); (function () {', 1, 1],
        ['}, function () {', 1, 1],
        ['}(evil()), function () {', 1, 1],
      ];
      it.each(faults)('rejects %j at line %d, column %d', async (code, line, column) => {
        expect(await sandbox.check(code)).toMatchObject({ ok: false, line, column });
      });

      it.each(['1 : 2); evil(); (0 ? 3', '} } ); evil(); ({ m() { {', '1 : 0 ? 2', '/*', '`', '', '} function g() {'])(
        'does not let code close its wrapper early: %j',
        async (code) => {
          const checked = await sandbox.check(code);
          expect(checked).toEqual(code === '' ? { ok: true, form: 'script' } : expect.objectContaining({ ok: false }));
        },
      );

      it('never runs the code that it parses', async () => {
        expect(await sandbox.check('for (;;);')).toEqual({ ok: true, form: 'script' });
        expect(await sandbox.check('(() => { for (;;); })() || 1')).toEqual({ ok: true, form: 'script' });
      });

      it('rejects code nested too deep to parse, and stays usable', async () => {
        expect((await sandbox.check('('.repeat(30_000))).ok).toBe(false);
        expect((await sandbox.check(`${'['.repeat(30_000)}${']'.repeat(30_000)}`)).ok).toBe(false);
        expect((await sandbox.check('true')).ok).toBe(true);
      });
    });

    describe('running code', () => {
      it.each([
        ['(document, page) => document.title === "The shop" && page.status === 200;', 'function'],
        ['const title = document.title;\nreturn title === "The shop"', 'body'],
        ['const wanted = await Promise.resolve("The shop"); return document.title === wanted', 'body'],
        ['let n = 0;\nfor (const li of document.querySelectorAll("li")) n++;\nn === 3', 'script'],
        ['await Promise.resolve(document.title === "The shop")', 'script'],
        ['await (Promise.resolve(document.title === "The shop"))', 'script'],
        ['return await (document.title === "The shop")', 'body'],
        ['Promise.resolve(1).then((n) => n === 1)', 'script'],
      ] as const)('evaluates %j as a %s', async (code, form) => {
        expect(await evaluate(code, { form })).toMatchObject({ ok: true, outcome: true });
      });

      it.each([
        ['"true"', 'the string "true"; compare it: === \'true\''],
        ['0', 'the number 0'],
        ['undefined', 'nothing'],
        ['null', 'null'],
        ['document.querySelector("li")', 'a node'],
        ['document.querySelectorAll("li")', 'a list'],
        ['() => true', 'a function'],
        ['({ then: null })', 'an object'],
        ['[true]', 'an array'],
        ['new Proxy({}, {})', 'an object'],
        ['new Boolean(true)', 'an object'],
      ])('names an answer that is not a boolean: %s', async (code, said) => {
        const result = await evaluate(code);
        expect(reasonOf(result)).toBe('not_boolean');
        expect(!result.ok && result.failure.message).toContain(said);
      });

      it('reports an error with its message and its place in the user’s own text', async () => {
        const inScript = await evaluate('const a = 1;\nconst b = null;\n  b.price');
        expect(inScript).toMatchObject({ ok: false, failure: { reason: 'threw', line: 3 } });
        const inFunction = await evaluate('(document) => {\n  return document.querySelector("#no").textContent;\n}', {
          form: 'function',
        });
        expect(inFunction).toMatchObject({ ok: false, failure: { reason: 'threw', line: 2 } });
        const inBody = await evaluate('\n\nthrow new Error("sold out")', { form: 'body' });
        expect(inBody).toMatchObject({
          ok: false,
          failure: { reason: 'threw', message: 'Error: sold out', line: 3, column: expect.any(Number) },
        });
        expect(await evaluate('throw "text"')).toMatchObject({ ok: false, failure: { reason: 'threw' } });
        expect(await evaluate('foo bar')).toMatchObject({ failure: { reason: 'syntax_error', line: 1, column: 5 } });
        expect(await evaluate('Promise.reject(new TypeError("no"))')).toMatchObject({
          failure: { reason: 'threw', message: 'TypeError: no' },
        });
      });

      it('keeps logs and values of runs that fail as well', async () => {
        const code = `console.log('a', 1, { b: [2] }, null); console.warn(new Error('w')); console.error(document.querySelector('b'));
          page.report('value', 12.5); page.report('list', [1, 'é', null, undefined]); page.report('value', 13); null.x`;
        const result = await evaluate(code);
        expect(reasonOf(result)).toBe('threw');
        expect(result.values).toEqual({ value: 13, list: [1, 'é', null, null] });
        expect(result.logs).toEqual([
          { level: 'log', message: 'a 1 {"b":[2]} null' },
          { level: 'warn', message: 'Error: w' },
          { level: 'error', message: '<b>world</b>' },
        ]);
      });

      it('passes in the state of the last run, and returns the state of this one', async () => {
        const previous = { outcome: false, values: { value: 3 }, text: 'old', at: '2025-01-01T00:00:00.000Z' };
        const code = 'page.state.runs = (page.state.runs ?? 0) + 1; page.previous.values.value === 3';
        const first = await evaluate(code, { previous, state: { runs: 4 } });
        expect(first).toMatchObject({ ok: true, outcome: true, state: { runs: 5 } });
        const replaced = await evaluate('page.state = { fresh: [1] }; true');
        expect(replaced).toMatchObject({ ok: true, state: { fresh: [1] } });
      });

      const previous = { outcome: true, values: { a: 1 }, text: 'old', at: '2025-01-01T00:00:00.000Z' };
      it.each([
        ['document.title === page.text', []],
        ['new Date(0).getTime() === 0 && page.url !== "" && page.status === 200', []],
        ['page.state.n === 1', ['state']],
        ['page.state = {}; true', ['state']],
        ['page.previous.values.a === 1', ['previous']],
        ['page.previous.text === "old"', ['previous', 'previous_text']],
        ['JSON.stringify(page.previous).includes("old")', ['previous', 'previous_text']],
        ['page.headers["content-type"] === ""', ['headers']],
        ['page.certificate === null', ['certificate']],
        ['Date.now() > 0', ['clock']],
        ['new Date().getTime() > 0', ['clock']],
        ['Date() !== ""', ['clock']],
        ['new (Object.getPrototypeOf(new Date(0)).constructor)().getTime() > 0', ['clock']],
        ['class Later extends Date {}; new Later().getTime() > 0', ['clock']],
        ['Math.random() < 1', ['random']],
        ['Object.values({ ...page }).length > 3', ['state', 'previous', 'headers', 'certificate']],
        ['(async () => { await null; return Date.now() > 0 })()', ['clock']],
        ['Array.prototype.push = () => 0; JSON.stringify = () => ""; Date.now() > 0', ['clock']],
      ])('reports which inputs the code used: %s', async (code, touched) => {
        expect((await evaluate(code, { previous })).touched).toEqual(touched);
      });

      it('shows the certificate of the site, with the days that are left at the time of the run', async () => {
        const certificate = {
          validTo: '2026-03-01T12:00:00.000Z',
          issuer: 'CN=Spec CA',
          subject: 'CN=shop.example',
          fingerprint: 'AB:CD',
        };
        const code = `const { daysLeft, validTo, issuer, subject, fingerprint } = page.certificate;
          page.report('seen', { daysLeft, validTo, issuer, subject, fingerprint }); return daysLeft < 30`;
        const nowMs = Date.parse('2026-02-01T12:00:01.000Z');
        const { values } = await evaluate(code, { nowMs, form: 'body', page: pageOf(shop, { certificate }) });
        expect(values).toEqual({ seen: { daysLeft: 27, ...certificate } });
        expect((await evaluate('page.certificate === null')).ok).toBe(true);
      });

      it('reports used inputs of a run that fails as well', async () => {
        expect((await evaluate('page.headers; throw new Error("no")')).touched).toEqual(['headers']);
        expect((await evaluate('Date.now()')).touched).toEqual(['clock']);
      });

      it('reports used inputs even if the code redefines their properties', async () => {
        const code = 'try { Object.defineProperty(page, "state", { value: 1 }) } catch { } page.state.n === 2';
        expect(await evaluate(code, { state: { n: 2 } })).toMatchObject({ outcome: true, touched: ['state'] });
      });

      it('answers the same for the same page, code and seed', async () => {
        const code =
          'page.report("value", [Math.random(), Math.random(), Date.now(), new Date().toString(), new Date(2020, 1, 1).getTime()]); true';
        const [first, second, other] = await Promise.all([
          evaluate(code),
          evaluate(code),
          evaluate(code, { seed: 'exe_2' }),
        ]);
        expect(first.values).toEqual(second.values);
        expect(first.values).not.toEqual(other.values);
        expect((first.values['value'] as readonly unknown[])[2]).toBe(Date.UTC(2025, 0, 2, 3, 4, 5));
      });

      it('isolates runs: globals, prototypes and the heap are new each time', async () => {
        const spoil = `globalThis.left = 1; Array.prototype.map = null; Object.prototype.left = 2; JSON.stringify = () => 'x';
          document.title = 'changed'; String.prototype.trim = () => 'x'; page.__proto__.left = 3; console.log = null; true`;
        const look = `typeof left === 'undefined' && [].left === undefined && [1].map((n) => n)[0] === 1 &&
          document.title === 'The shop' && ' a '.trim() === 'a' && JSON.stringify(1) === '1'`;
        for (let round = 0; round < 20; round++) {
          expect(reasonOf(await evaluate(spoil))).toBe('outcome true');
          expect(reasonOf(await evaluate(look))).toBe('outcome true');
        }
      });
    });

    describe('giving code the page', () => {
      it('describes how it was loaded', async () => {
        expect(
          await valueOf('[page.url, page.finalUrl, page.status, page.headers["content-type"], page.text.length]'),
        ).toEqual([
          'https://shop.example/start#part',
          'https://shop.example/d/index.html',
          200,
          'text/html',
          shop.length,
        ]);
        expect(await valueOf('[location.href, document.URL, location.hash, document.baseURI]')).toEqual([
          'https://shop.example/d/index.html#part',
          'https://shop.example/d/index.html#part',
          '#part',
          'https://shop.example/shop/',
        ]);
      });

      it('gives JSON or text where it is not markup', async () => {
        const json = pageOf('{"price": 12, "name": "a<b>é\\u0000"}', { contentKind: 'json' });
        expect(await valueOf('page.json().price', { page: json })).toBe(12);
        expect(await valueOf('document.body.firstChild.tagName + document.body.textContent', { page: json })).toBe(
          'PRE{"price": 12, "name": "a<b>é\\u0000"}',
        );
        const text = pageOf('a < b\nc', { contentKind: 'text' });
        expect(await valueOf('document.querySelector("pre").textContent', { page: text })).toBe('a < b\nc');
        expect(reasonOf(await evaluate('page.json()', { page: text }))).toBe('threw');
      });

      const numbers: readonly (readonly [string, number])[] = [
        ['€ 1.234,56', 1234.56],
        ['$1,234.56', 1234.56],
        ['1,234', 1234],
        ['1.234.567', 1234567],
        ['12,5', 12.5],
        ['0.999', 0.999],
        ['0,125 kg', 0.125],
        ['1 234 567,8', 1234567.8],
        ["CHF 1'234.50", 1234.5],
        ['1,23,456.7', 123456.7],
        ['-12 %', -12],
        ['−3.5', -3.5],
        ['sold 1 of 20', 1],
        ['A-12', 12],
        ['.5', 0.5],
        ['٣٫٥', 3.5],
        ['1e3', 1000],
      ];
      it.each(numbers)('finds in %j the number %d', async (text, number) => {
        expect(await valueOf(`page.number(${JSON.stringify(text)})`)).toBe(number);
      });

      it('tells a decimal point from a thousands point by the locale', async () => {
        expect(
          await valueOf('[page.number("1.234", "de"), page.number("1.234", "en-US"), page.number("1,234", "fr")]'),
        ).toEqual([1234, 1.234, 1.234]);
        expect(
          await valueOf('[page.number("none", { or: "none" }), page.number(document.querySelector("td + td"))]'),
        ).toEqual(['none', 1234.5]);
      });
    });

    describe('running scripts of actions', () => {
      const globals: JsonObject = { event: { id: 'x' }, secrets: { token: 't' } };
      const script = (code: string, form: CodeForm) =>
        sandbox.runScript({ code, form, globals, seed: 's', nowMs: 0, limits: quick });

      it('returns any JSON value, with the inputs in scope', async () => {
        const expected = { ok: true, value: { url: 'https://a/x', auth: 't' }, logs: [{ level: 'log', message: 'x' }] };
        const body = 'console.log(event.id); return { url: "https://a/" + event.id, auth: secrets.token }';
        expect(await script(body, 'body')).toEqual(expected);
        expect(await script(`(event, secrets) => { ${body} }`, 'function')).toEqual(expected);
        expect(await script('[event.id, null, undefined, NaN]', 'script')).toMatchObject({
          value: ['x', null, null, null],
        });
      });

      it('gives them no page', async () => {
        expect(await script('typeof document + typeof page', 'script')).toMatchObject({ value: 'undefinedundefined' });
      });

      it('ends them by the same limits', async () => {
        expect(await script('for (;;);', 'script')).toMatchObject({ ok: false, failure: { reason: 'cpu_limit' } });
        expect(await script('"x".repeat(1e6)', 'script')).toMatchObject({ failure: { reason: 'output_limit' } });
        expect(await script('const a = {}; a.a = a; a', 'script')).toMatchObject({ failure: { reason: 'threw' } });
      });
    });
  });
}
