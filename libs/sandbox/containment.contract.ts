/** What every sandbox withstands: limits that hold, nothing to reach from inside, pages made to hurt. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { asking, jobOf, pageOf, patient, quick, reasonOf, shop } from './kit.contract.js';
import { defaultSandboxLimits } from './sandbox.js';
import type { EvaluationResult, Sandbox } from './sandbox.js';

export function describeContainment(name: string, create: () => Sandbox): void {
  describe(`${name} as a sandbox`, () => {
    let sandbox: Sandbox;
    beforeAll(() => {
      sandbox = create();
    });
    afterAll(() => sandbox.close());

    const { evaluate, valueOf } = asking(() => sandbox);

    describe('at its limits', () => {
      const limited: readonly (readonly [string, string])[] = [
        ['for (;;);', 'cpu_limit'],
        ['try { for (;;); } finally { for (;;); }', 'cpu_limit'],
        ['const f = () => Promise.resolve().then(f); f(); new Promise(() => {})', 'cpu_limit'],
        ['(async () => { for (;;) await null; })()', 'cpu_limit'],
        ['/^(a+)+$/.test("a".repeat(40) + "b")', 'cpu_limit'],
        ['new Proxy({}, { get: () => { for (;;); } }).then', 'cpu_limit'],
        ['({ get then() { for (;;); } })', 'cpu_limit'],
        ['({ then() { for (;;); } })', 'cpu_limit'],
        ['page.report("value", { toJSON() { for (;;); } })', 'cpu_limit'],
        ['page.state = { toJSON() { for (;;); } }; true', 'cpu_limit'],
        ['throw { get message() { for (;;); }, get stack() { for (;;); } }', 'threw'],
        ['let s = "x"; for (;;) s += s', 'threw'],
        ['throw new Proxy({}, { getOwnPropertyDescriptor() { for (;;); } })', 'cpu_limit'],
        ['new Array(1e9) + ""', 'cpu_limit'],
        ['Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)', 'cpu_limit'],
        ['const a = []; a[4e9] = 1; a.length = 4e9; a.sort(); true', 'cpu_limit'],
        ['const a = []; for (;;) a.push(new Array(1000).fill(1.5))', 'memory_limit'],
        ['const a = []; for (;;) a.push("x".repeat(1e6) + a.length)', 'memory_limit'],
        ['new Uint8Array(1e9)', 'threw or memory'],
        ['(function f() { f(); })()', 'stack_limit'],
        ['const f = () => [1].map(f); f()', 'stack_limit'],
        ['let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)', 'stack_limit'],
        ['const box = document.createElement("div"); for (;;) box.innerHTML = "<p>".repeat(1000)', 'cpu_limit'],
        ['const box = document.createElement("div"); box.innerHTML = "<p>x".repeat(1e6); true', 'threw'],
        ['new Promise(() => {})', 'never_settled'],
        ['({ then() {} })', 'never_settled'],
        ['console.log("x".repeat(1e6)); true', 'output_limit'],
        ['try { for (;;) console.log("x".repeat(1000)) } catch {} true', 'output_limit'],
        ['page.report("value", "x".repeat(1e6)); true', 'output_limit'],
        ['page.state.x = "x".repeat(20000); true', 'state_limit'],
        ['page.state = 1; true', 'state_limit'],
        ['page.state.self = page.state; true', 'threw'],
      ];
      it.each(limited)('ends code with a reason: %s ends as %s', async (code, reason) => {
        const result = await evaluate(code, { limits: reason === 'cpu_limit' ? quick : patient });
        if (reason === 'threw or memory') expect(['threw', 'memory_limit']).toContain(reasonOf(result));
        else expect(reasonOf(result)).toBe(reason);
        expect(reasonOf(await evaluate('document.title === "The shop"'))).toBe('outcome true');
      });

      it('ends code whose markup uses up its time, even if the code catches the exception', async () => {
        const code = `const box = document.createElement('div'); try { box.innerHTML = '<b>x</b>'.repeat(190000); } catch {} true`;
        const within = (cpuMs: number) => evaluate(code, { limits: { ...defaultSandboxLimits, cpuMs } });
        expect(reasonOf(await within(10_000))).toBe('outcome true');
        expect(reasonOf(await within(8))).toBe('cpu_limit');
      });

      it('ends a JSON value of many paths through few objects', async () => {
        const result = await evaluate(
          'let a = []; for (let i = 0; i < 40; i++) a = [a, a]; page.report("value", a); true',
          { limits: quick },
        );
        expect(['cpu_limit', 'memory_limit']).toContain(reasonOf(result));
      });

      it('reports a line of code that ran away and keeps its logs', async () => {
        const code = 'console.log("before");\nlet n = 0;\nwhile (true) {\n  n = Math.max(n, 1);\n}';
        const result = await evaluate(code, { limits: quick });
        expect(result).toMatchObject({ ok: false, failure: { reason: 'cpu_limit' }, logs: [{ message: 'before' }] });
        expect(!result.ok && result.failure.line).toBeGreaterThanOrEqual(1);
      });

      it('answers short jobs while a long one runs', async () => {
        const other = create();
        const order: string[] = [];
        const limits = { ...defaultSandboxLimits, cpuMs: 60_000 };
        const endless = ['for (;;);', 'new Array(1e9) + ""'].map((code) =>
          other.evaluate(jobOf(code, { limits })).then(() => order.push('long')),
        );
        const shorts = Array.from({ length: 20 }, () => other.evaluate(jobOf('true')).then(() => order.push('short')));
        await Promise.all(shorts);
        expect(order).toEqual(Array.from({ length: 20 }, () => 'short'));
        await other.close();
        await Promise.all(endless);
      });
    });

    describe('against escapes', () => {
      it.each([
        ['typeof process + typeof require + typeof global + typeof Deno', 'undefinedundefinedundefinedundefined'],
        ['[].constructor.constructor("return typeof process")()', 'undefined'],
        ['(0, eval)("typeof process")', 'undefined'],
        ['document.constructor.constructor("return this === globalThis")()', true],
        ['Object.getOwnPropertyNames(globalThis).includes("guestEntry")', false],
        ['typeof hostMarkupParser', 'undefined'],
      ])('%s', async (expression, value) => {
        expect(await valueOf(expression)).toBe(value);
      });

      it.each(['import("fs")', 'import("./prelude.js")', 'import("node:process").then(() => true)'])(
        '%s',
        async (code) => {
          expect(reasonOf(await evaluate(code))).toBe('threw');
        },
      );

      it('returns results unchanged by patched built-ins', async () => {
        const code = `JSON.stringify = () => '{"ok":true}'; Array.prototype.push = null; Array.prototype.join = () => '';
          Object.prototype.toJSON = () => 'x'; String.prototype.charCodeAt = null; Promise.prototype.then = null; true`;
        expect(await evaluate(code)).toMatchObject({ logs: [], values: {} });
      });
    });

    describe('given a hostile page', () => {
      const bombs: readonly (readonly [string, () => string, readonly string[]])[] = [
        ['a million nested elements', () => '<div>'.repeat(1_000_000), ['page_too_complex']],
        ['300,000 elements', () => '<p>'.repeat(300_000), ['page_too_complex']],
        [
          '2,000 mis-nested formatting tags',
          () => `${'<b><i>'.repeat(1_000)}${'</b>'.repeat(1_000)}<p>`.repeat(2),
          ['page_too_complex'],
        ],
        [
          'mis-nested formatting in paragraphs',
          () => '<a><b><i><u><p>'.repeat(500),
          ['outcome true', 'page_too_complex'],
        ],
        [
          '50,000 attributes',
          () => `<p ${Array.from({ length: 50_000 }, (_, at) => `a${at}=1`).join(' ')}>`,
          ['outcome true', 'page_too_complex'],
        ],
        ['a megabyte of <', () => '<'.repeat(1_000_000), ['outcome true', 'page_too_complex']],
        [
          'a megabyte of text in a table',
          () => `<table>${'x<tr>'.repeat(100_000)}`,
          ['outcome true', 'page_too_complex'],
        ],
        ['nothing', () => '', ['outcome true']],
        ['NULs', () => '\0'.repeat(1_000), ['outcome true']],
      ];
      it.each(bombs)('%s', async (_name, markup, reasons) => {
        const result = await evaluate('document.querySelectorAll("nope").length === 0', { page: pageOf(markup()) });
        expect(reasons).toContain(reasonOf(result));
        expect(reasonOf(await evaluate('true'))).toBe('outcome true');
      });

      it('reads bytes that are not UTF-8 as replacement characters', async () => {
        const page = { ...pageOf(''), body: new Uint8Array([0xff, 0x3c, 0x70, 0x3e, 0xc3, 0x28, 0xed, 0xa0, 0x80]) };
        expect(await valueOf('document.querySelector("p").textContent.includes("\\ufffd")', { page })).toBe(true);
      });
    });

    describe('given a page again, known by its hash', () => {
      const known = { page: { ...pageOf(shop), contentHash: 'sha256:shop' } };
      const other = { page: { ...pageOf('<title>Other</title>'), contentHash: 'sha256:other' } };
      const read = `page.report('value', [document.title, page.text.length, page.url, document.querySelectorAll('*').length,
        page.state.seen ?? 0, Math.random(), Date.now(), document.body.textContent]); true`;
      const withoutTimings = ({ timings: _timings, ...rest }: EvaluationResult): unknown => rest;

      it('reads it the same each time, with the other inputs of each run', async () => {
        const more = { state: { seen: 7 }, seed: 'exe_9' };
        const expected = withoutTimings(await evaluate(read, more));
        for (let round = 0; round < 6; round++) {
          expect(withoutTimings(await evaluate(read, { ...known, ...more }))).toEqual(expected);
        }
        const moved = { page: { ...known.page, url: 'https://shop.example/moved' }, ...more };
        const result = await evaluate('page.report("value", page.url); true', moved);
        expect(result.values['value']).toBe('https://shop.example/moved');
      });

      it('does not take another page for it, nor the same bytes as another kind of content', async () => {
        for (let round = 0; round < 3; round++) {
          expect(await valueOf('document.title', known)).toBe('The shop');
          expect(await valueOf('document.title', other)).toBe('Other');
          const asText = { page: { ...known.page, contentKind: 'text' as const } };
          expect(await valueOf('document.querySelectorAll("*").length', asText)).toBe(4);
        }
      });

      it('keeps no change that code made to it, however that run ended', async () => {
        const spoil = `globalThis.left = 1; Array.prototype.map = null; Object.prototype.left = 2; document.title = 'changed';
          document.body.innerHTML = ''; page.__proto__.left = 3; true`;
        const look = `typeof left === 'undefined' && [].left === undefined && [1].map((n) => n)[0] === 1 &&
          document.title === 'The shop' && document.querySelectorAll('li').length === 3`;
        const ends = [
          'true',
          'for (;;);',
          '(function f() { f() })()',
          'const a = []; for (;;) a.push("x".repeat(1e6) + a.length)',
        ];
        for (const end of [...ends, ...ends]) {
          await evaluate(`${spoil}; ${end}`, { ...known, limits: quick });
          for (let round = 0; round < 3; round++) expect(reasonOf(await evaluate(look, known))).toBe('outcome true');
        }
      });
    });

    describe('given one code for several pages', () => {
      const withoutTimings = ({ timings: _timings, ...rest }: EvaluationResult): unknown => rest;
      const visitsOf = (markups: readonly string[]) =>
        markups.map((markup, at) => ({ page: pageOf(markup), seed: `exe_${at}`, nowMs: at * 1_000 }));

      /** As one by one, in the same order. */
      async function expectSame(code: string, markups: readonly string[], limits = patient): Promise<string[]> {
        const { page: _page, seed: _seed, nowMs: _nowMs, ...shared } = jobOf(code, { limits, state: { seen: 7 } });
        const visits = visitsOf(markups);
        const results = await sandbox.evaluateAll({ ...shared, visits });
        const alone = [];
        for (const visit of visits) alone.push(await sandbox.evaluate({ ...shared, ...visit }));
        expect(results.map(withoutTimings)).toEqual(alone.map(withoutTimings));
        return results.map(reasonOf);
      }

      it('answers for each as for it alone', async () => {
        const code = `page.report('value', [document.title, page.text, Math.random(), Date.now(), page.state.seen]);
          page.state.seen += 1; console.log(page.text.length); document.querySelector('p').textContent === 'yes'`;
        const pages = ['<p>yes', '<p>no', '<title>ü€</title><p>yes', '', '<div>'.repeat(1_000_000), '<p>yes'];
        expect(await expectSame(code, pages)).toEqual([
          'outcome true',
          'outcome false',
          'outcome true',
          'threw',
          'page_too_complex',
          'outcome true',
        ]);
        expect(await sandbox.evaluateAll({ ...jobOf('true'), visits: [] })).toEqual([]);
      });

      it.each([
        ['uses up its time', 'for (;;);', 'cpu_limit'],
        ['uses up its time where nothing interrupts it', 'new Array(1e9) + ""', 'cpu_limit'],
        ['uses up its memory', 'const a = []; for (;;) a.push("x".repeat(1e6) + a.length)', 'memory_limit'],
        ['uses up its stack', '(function f() { f(); })()', 'stack_limit'],
      ])('lets a page whose code %s harm its own result alone', async (_how, harm, reason) => {
        const code = `globalThis.left = (globalThis.left ?? 0) + 1; Array.prototype.left ??= 0; Array.prototype.left += 1;
          if (document.title === 'harm') { ${harm} }
          [].left === 1 && left === 1`;
        const pages = ['<p>1', '<title>harm</title>', '<p>3', '<p>4'];
        const limits = reason === 'cpu_limit' ? { ...quick, cpuMs: 1_000 } : patient;
        expect(await expectSame(code, pages, limits)).toEqual(['outcome true', reason, 'outcome true', 'outcome true']);
      });

      it('holds each to the time of one evaluation, however many there are', async () => {
        const code = 'for (let n = 0; n < 2e5; n += 1) Math.random(); true';
        const pages = Array.from({ length: 12 }, (_, at) => `<p>${at}`);
        expect(new Set(await expectSame(code, pages))).toEqual(new Set(['outcome true']));
      });
    });

    it('answers jobs after closing with an error', async () => {
      const other = create();
      const running = other.evaluate(jobOf('for (;;);', { limits: { ...quick, cpuMs: 5_000 } }));
      const waiting = Array.from({ length: 10 }, () => other.evaluate(jobOf('for (;;);')));
      await other.close();
      for (const result of await Promise.all([running, ...waiting]))
        expect(reasonOf(result)).toBe('sandbox_unavailable');
      const { page, seed, nowMs, ...shared } = jobOf('true');
      const both = await other.evaluateAll({
        ...shared,
        visits: [
          { page, seed, nowMs },
          { page, seed, nowMs },
        ],
      });
      expect(both.map(reasonOf)).toEqual(['sandbox_unavailable', 'sandbox_unavailable']);
      expect(reasonOf(await other.evaluate(jobOf('true')))).toBe('sandbox_unavailable');
    });
  });
}
