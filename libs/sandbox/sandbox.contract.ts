/** What every sandbox promises: an adapter's spec calls this with a way to make one. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '#runtime/json';
import { jobOf, pageOf, quick, reasonOf, shop } from './kit.contract.js';
import type { CodeForm, EvaluationJob, EvaluationResult, Sandbox } from './sandbox.js';

export function describeSandbox(name: string, create: () => Sandbox): void {
  describe(`${name} as a sandbox`, () => {
    let sandbox: Sandbox;
    beforeAll(() => {
      sandbox = create();
    });
    afterAll(() => sandbox.close());

    const evaluate = (code: string, more?: Partial<EvaluationJob>): Promise<EvaluationResult> =>
      sandbox.evaluate(jobOf(code, more));
    const valueOf = async (expression: string, more?: Partial<EvaluationJob>): Promise<unknown> => {
      const result = await evaluate(`page.report('value', ${expression}); true`, more);
      if (!result.ok) throw new Error(`${expression}: ${result.failure.reason}: ${result.failure.message}`);
      return result.values['value'];
    };

    describe('reading code', () => {
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
      it.each(forms)('%j is a %s', async (code, form) => {
        expect(await sandbox.check(code, 'evaluation')).toEqual({ ok: true, form });
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
      it.each(faults)('%j is refused at line %d, column %d', async (code, line, column) => {
        expect(await sandbox.check(code, 'evaluation')).toMatchObject({ ok: false, line, column });
      });

      it.each(['1 : 2); evil(); (0 ? 3', '} } ); evil(); ({ m() { {', '1 : 0 ? 2', '/*', '`', '', '} function g() {'])(
        'code that closes a wrapper early is no form but its own: %j',
        async (code) => {
          const checked = await sandbox.check(code, 'evaluation');
          expect(checked).toEqual(code === '' ? { ok: true, form: 'script' } : expect.objectContaining({ ok: false }));
        },
      );

      it('never runs what it reads', async () => {
        expect(await sandbox.check('for (;;);', 'evaluation')).toEqual({ ok: true, form: 'script' });
        expect(await sandbox.check('(() => { for (;;); })() || 1', 'action')).toEqual({ ok: true, form: 'script' });
      });

      it('refuses what is too deep to read, and goes on reading', async () => {
        expect((await sandbox.check('('.repeat(30_000), 'evaluation')).ok).toBe(false);
        expect((await sandbox.check(`${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'evaluation')).ok).toBe(false);
        expect((await sandbox.check('true', 'evaluation')).ok).toBe(true);
      });
    });

    describe('running code', () => {
      it.each([
        ['(document, page) => document.title === "The shop" && page.status === 200;', 'function'],
        ['const title = document.title;\nreturn title === "The shop"', 'body'],
        ['const wanted = await Promise.resolve("The shop"); return document.title === wanted', 'body'],
        ['let n = 0;\nfor (const li of document.querySelectorAll("li")) n++;\nn === 3', 'script'],
        ['await Promise.resolve(document.title === "The shop")', 'script'],
        ['Promise.resolve(1).then((n) => n === 1)', 'script'],
      ] as const)('%j answers as a %s', async (code, form) => {
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
      ])('what is no boolean is named: %s', async (code, said) => {
        const result = await evaluate(code);
        expect(reasonOf(result)).toBe('not_boolean');
        expect(!result.ok && result.failure.message).toContain(said);
      });

      it('an error has its message and its place in the user’s own text', async () => {
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

      it('keeps logs and values, also of a run that fails', async () => {
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

      it('hands over what the last run left, and keeps what this one leaves', async () => {
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
        ['Date.now() > 0', ['clock']],
        ['new Date().getTime() > 0', ['clock']],
        ['Date() !== ""', ['clock']],
        ['new (Object.getPrototypeOf(new Date(0)).constructor)().getTime() > 0', ['clock']],
        ['class Later extends Date {}; new Later().getTime() > 0', ['clock']],
        ['Math.random() < 1', ['random']],
        ['Object.values({ ...page }).length > 3', ['state', 'previous', 'headers']],
        ['(async () => { await null; return Date.now() > 0 })()', ['clock']],
        ['Array.prototype.push = () => 0; JSON.stringify = () => ""; Date.now() > 0', ['clock']],
      ])('says what code made use of: %s', async (code, touched) => {
        expect((await evaluate(code, { previous })).touched).toEqual(touched);
      });

      it('says so of a run that fails as well', async () => {
        expect((await evaluate('page.headers; throw new Error("no")')).touched).toEqual(['headers']);
        expect((await evaluate('Date.now()')).touched).toEqual(['clock']);
      });

      it('does not let the noting be defined away', async () => {
        const code = 'try { Object.defineProperty(page, "state", { value: 1 }) } catch { } page.state.n === 2';
        expect(await evaluate(code, { state: { n: 2 } })).toMatchObject({ outcome: true, touched: ['state'] });
      });

      it('the same page, code and seed answer the same', async () => {
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

      it('runs are isolated: globals, prototypes and the heap are new each time', async () => {
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

    describe('the page', () => {
      it('is known by its load', async () => {
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

      it('is JSON or text where it is no markup', async () => {
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
      it.each(numbers)('the number in %j is %d', async (text, number) => {
        expect(await valueOf(`page.number(${JSON.stringify(text)})`)).toBe(number);
      });

      it('a locale decides between a decimal point and a thousands point', async () => {
        expect(
          await valueOf('[page.number("1.234", "de"), page.number("1.234", "en-US"), page.number("1,234", "fr")]'),
        ).toEqual([1234, 1.234, 1.234]);
        expect(
          await valueOf('[Number.isNaN(page.number("none")), page.number(document.querySelector("td + td"))]'),
        ).toEqual([true, 1234.5]);
      });

      const reads: readonly (readonly [string, unknown])[] = [
        ['document.title', 'The shop'],
        ['document.querySelector("h1").textContent', 'Hello world'],
        ['[...document.querySelectorAll("#list > li")].map((li) => li.textContent).join()', 'one,two,three'],
        ['document.querySelector("[data-sku-id]").dataset.skuId', 'A1'],
        ['document.querySelector("a").href', 'https://shop.example/x?y=1#z'],
        ['document.links[0].pathname', '/x'],
        ['document.querySelector("table").rows[1].cells[1].textContent.trim()', '1.234,50 €'],
        ['document.forms.login.elements.q.value', 'hi'],
        ['document.forms[0].action', 'https://shop.example/shop/go'],
        ['document.querySelector("select").value', 'B'],
        ['[...new FormData(document.forms[0])].join("|")', 'q,hi|c,on|s,B|t,txt'],
        ['document.querySelector("svg").getAttribute("viewBox")', '0 0 1 1'],
        ['document.querySelector("path").outerHTML', '<path d="M0"></path>'],
        ['document.querySelector("template").content.firstChild.outerHTML', '<i>in</i>'],
        ['document.querySelector("script").innerHTML', 'var x = 1 < 2;'],
        ['document.querySelectorAll("ul:has(> .first) li:not(.item)").length', 1],
        ['document.querySelectorAll("li:nth-child(2 of .item)")[0].textContent', 'two'],
        ['document.querySelectorAll("li:nth-last-child(-n + 2)").length', 2],
        ['document.querySelectorAll(":is(h1, p):where(:not(.x))").length', 3],
        ['document.body.querySelectorAll(":scope > ul > li").length', 3],
        ['document.querySelector("a[href$=Z i][rel~=next]").text', 'link'],
        ['document.querySelectorAll("li:first-of-type, li:last-of-type").length', 2],
        ['document.querySelectorAll("#list li, body #list > .item").length', 3],
        ['document.querySelector("li").parentNode.querySelectorAll("#list .item").length', 2],
        ['document.querySelector("input:checked").name', 'c'],
        ['document.querySelector("li").closest("body").className', 'page dark'],
        ['document.querySelector("li").matches("ul > :first-child")', true],
        ['document.body.classList.contains("dark")', true],
        ['document.querySelector("tbody").children.length', 2],
        ['document.querySelector("h1").nextElementSibling.tagName', 'UL'],
        ['document.documentElement.lang', 'en'],
        ['document.body instanceof HTMLBodyElement', true],
        ['window === self && window.document === document', true],
        ['new URL("//EXAMPLE.com:443/a/../b?c d#e", "https://x.y/").href', 'https://example.com/b?c%20d#e'],
        ['new URLSearchParams("a=1&b=2&a=3").getAll("a").join()', '1,3'],
        ['new TextDecoder().decode(new TextEncoder().encode("é€😀"))', 'é€😀'],
        ['structuredClone({ a: [1, { b: 2 }] }).a[1].b', 2],
        [
          '(() => { const walker = document.createTreeWalker(document.querySelector("ul"), NodeFilter.SHOW_TEXT); let text = ""; while (walker.nextNode()) text += walker.currentNode.data; return text; })()',
          'onetwothree',
        ],
      ];
      it.each(reads)('%s', async (expression, value) => {
        expect(await valueOf(expression)).toEqual(value);
      });

      const lists: readonly (readonly [string, string, unknown])[] = [
        [
          'a live list follows changes, whichever way it is read',
          `const ul = document.querySelector('#list'), live = ul.children, fixed = ul.querySelectorAll('li');
           const before = [live.length, live[0].textContent];
           live[0].remove();
           return [...before, live.length, live[0].textContent, live.item(1).textContent, live[2] === undefined, 2 in live,
             [...live].length, Object.keys(live).join(), fixed.length, fixed[0].textContent];`,
          [3, 'one', 2, 'two', 'three', true, false, 2, '0,1', 3, 'one'],
        ],
        [
          'a list read by index alone is not behind the tree',
          `const live = document.getElementsByTagName('li'); const first = live[0];
           first.before(first.cloneNode(true));
           return [live[0] === first, live[1] === first, live.length];`,
          [false, true, 4],
        ],
        [
          'a node has one list of each kind',
          `const row = document.querySelector('tr'), table = document.querySelector('table');
           return [row.cells === row.cells, row.children === row.children, row.childNodes === row.childNodes,
             table.rows === table.rows, row.children === table.querySelectorAll('tr')[1].children];`,
          [true, true, true, true, false],
        ],
        [
          'items are found by index, by name and by nothing else',
          `const rows = document.querySelector('table').rows, forms = document.forms;
           return [rows['0'] === rows[0], rows['00'], rows[-1], rows['1.0'], rows[4294967296], rows.item(99), rows.none, forms.none,
             forms.login === forms[0], forms.namedItem('login') === forms[0], forms.namedItem(''), forms.item('0') === forms[0]];`,
          [true, null, null, null, null, null, null, null, true, true, null, true],
        ],
        [
          'lists are what a browser says they are',
          `const live = document.body.children, nodes = document.body.childNodes, fixed = document.querySelectorAll('li');
           return [live, nodes, fixed].map((list) => Object.prototype.toString.call(list)).concat([
             live instanceof HTMLCollection, nodes instanceof NodeList, fixed instanceof NodeList, Array.isArray(live),
             live.item === live.item, live.forEach === undefined, typeof nodes.forEach, 'length' in live, live.hasOwnProperty(0),
             Object.getOwnPropertyDescriptor(live, 0).value === live[0], Object.getOwnPropertySymbols(live).length]);`,
          [
            '[object HTMLCollection]',
            '[object NodeList]',
            '[object NodeList]',
            true,
            true,
            true,
            false,
            true,
            true,
            'function',
            true,
            true,
            true,
            0,
          ],
        ],
        [
          'lists are walked like arrays',
          `const live = document.querySelector('#list').children, nodes = document.querySelector('#list').childNodes;
           const seen = []; nodes.forEach((node, at, list) => seen.push(at, list === nodes));
           return [Array.from(live, (li) => li.textContent).join(), [].map.call(live, (li) => li.textContent).join(),
             [...live.length ? nodes.entries() : []].length === nodes.length, [...nodes.keys()].at(-1) === nodes.length - 1,
             [...nodes.values()][0] === nodes[0], seen.length === 2 * nodes.length && !seen.includes(false),
             [...document.querySelectorAll('li').entries()].map(([at, li]) => at + li.textContent).join()];`,
          ['one,two,three', 'one,two,three', true, true, true, true, '0one,1two,2three'],
        ],
        [
          'what is removed on the way is passed over',
          `const live = document.querySelector('#list').children; const seen = [];
           for (const li of live) { seen.push(li.textContent); li.remove(); }
           return [seen.join(), live.length];`,
          ['one,three', 1],
        ],
        [
          'items cannot be replaced, and nothing breaks a list',
          `'use strict'; const live = document.body.children, first = live[0]; const thrown = [];
           for (const spoil of [() => { live[0] = 1; }, () => { delete live[0]; }, () => Object.defineProperty(live, 0, { value: 1 }),
             () => Object.freeze(live), () => HTMLCollection.prototype.item.call({}, 0), () => HTMLCollection.prototype.length]) {
             try { spoil(); thrown.push('nothing'); } catch (error) { thrown.push(error.name); }
           }
           live.mark = 5;
           return [...thrown, live[0] === first, live.mark, Object.keys(live).at(-1)];`,
          ['TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError', true, 5, 'mark'],
        ],
        [
          'positions among siblings follow changes',
          `const ul = document.querySelector('#list'); const third = () => ul.querySelector('li:nth-child(3)')?.textContent ?? '';
           const before = [third(), ul.querySelectorAll('li:nth-last-of-type(1)')[0].textContent];
           ul.append(document.createElement('p'), document.createElement('li'));
           ul.firstElementChild.remove();
           return [...before, third(), ul.querySelector('li:nth-last-of-type(1)').textContent, ul.querySelector('p:only-of-type').tagName,
             ul.querySelector('li:nth-last-child(3)').textContent];`,
          ['three', 'three', '', '', 'P', 'three'],
        ],
        [
          'an element that several selectors find comes once, in the order of the page',
          `return [...document.querySelectorAll('li.item, li, #list > *, h1')].map((each) => each.tagName).join();`,
          'H1,LI,LI,LI',
        ],
      ];
      it.each(lists)('%s', async (_rule, code, value) => {
        expect(await valueOf(`(() => { ${code} })()`)).toEqual(value);
      });

      it('nodes made by the code are found like those of the page', async () => {
        const code = `const ul = document.querySelector('ul');
          for (let at = 0; at < 1000; at++) { const li = document.createElement('li'); li.setAttribute('id', 'n' + at); li.textContent = at; ul.append(li); }
          page.report('value', [ul.children.length, ul.children[1002].id, document.querySelectorAll('li').length, document.getElementById('n999').textContent]); true`;
        const result = await evaluate(code);
        expect(result).toMatchObject({ ok: true });
        expect(result.values['value']).toEqual([1003, 'n999', 1003, '999']);
      });

      it('innerText reads as the page would: blocks, breaks, cells, nothing hidden', async () => {
        expect(await valueOf('document.querySelector("table").innerText')).toBe('name\tprice\ntea\t1.234,50 €');
        const body = pageOf(
          '<body> a  <b>b</b>\n c<p>d</p><div>e<br>f</div><script>g</script><span hidden>h</span></body>',
        );
        expect(await valueOf('document.body.innerText', { page: body })).toBe('a b c\n\nd\n\ne\nf');
      });

      it('changes reach nothing but the copy', async () => {
        const code = `const p = document.createElement('p'); p.textContent = 'n<w'; p.className = 'new'; document.body.append(p);
          document.querySelector('li').remove(); document.querySelector('ul').firstElementChild.setAttribute('id', 'now');
          page.report('value', [document.body.lastElementChild.outerHTML, document.querySelectorAll('li').length,
            document.getElementById('now').textContent, document.querySelectorAll('p.new').length, document.querySelectorAll('p').length]); true`;
        const result = await evaluate(code);
        expect(result.values['value']).toEqual(['<p class="new">n&lt;w</p>', 2, 'two', 1, 3]);
      });

      it('parses markup that the code writes, however it is asked for', async () => {
        const code = `const list = document.querySelector('ul'); list.innerHTML = '<li>x<li class="y">y &amp; z<template><b>t</b></template>';
          const other = new DOMParser().parseFromString('<title>T</title><p>a<p>b', 'text/html');
          list.insertAdjacentHTML('afterend', '<hr>');
          page.report('value', [list.children.length, document.querySelector('li.y').textContent, list.nextSibling.tagName, list.innerHTML,
            other.title, other.querySelectorAll('p').length, other.body.innerHTML, document.title]); true`;
        const values = [2, 'y & z', 'HR', '<li>x</li><li class="y">y &amp; z<template><b>t</b></template></li>'];
        const expected = [...values, 'T', 2, '<p>a</p><p>b</p>', 'The shop'];
        expect((await evaluate(code)).values['value']).toEqual(expected);
        const hidden = code
          .replace('list.innerHTML =', "list['inner' + 'HTML'] =")
          .replace('list.insertAdjacentHTML', "list['insertAdjacent' + 'HTML']")
          .replace('DOMParser', "window['DOM' + 'Parser']");
        const caught = `try { document.body['outer' + 'HTML'] = '<body><i>i'; } catch {} document.querySelector('i') !== null`;
        expect((await evaluate(hidden)).values['value']).toEqual(expected);
        expect(reasonOf(await evaluate(caught))).toBe('outcome true');
      });

      it('markup that the code writes keeps its texts, attributes, comments and foreign elements', async () => {
        const code = `const box = document.createElement('div'); const markup = '<p class="a b" id="x" title="é€😀">q<!-- c --><svg viewBox="0 0"><a xlink:href="#"></a></svg></p>';
          box.innerHTML = markup; document.body.append(box); const page_ = new DOMParser().parseFromString('<!doctype html><body><noscript>a<b>c</b></noscript>', 'text/html');
          page.report('value', [box.innerHTML === markup, document.querySelector('.b#x').title, box.querySelector('svg').namespaceURI, page_.doctype.name,
            page_.querySelector('noscript b') !== null, document.querySelectorAll('#x').length]); true`;
        const result = await evaluate(code);
        expect(result.values['value']).toEqual([true, 'é€😀', 'http://www.w3.org/2000/svg', 'html', true, 1]);
      });

      it('markup beyond the limits of a page is refused with a sentence, and the code goes on', async () => {
        const code = `const box = document.createElement('div'); let message = '';
          try { box.innerHTML = '<div>'.repeat(600); } catch (error) { message = error.message; }
          box.innerHTML = '<b>fine'; page.report('value', [message, box.innerHTML]); true`;
        const result = await evaluate(code);
        expect(result.values['value']).toEqual(['The markup nests its elements more than 512 deep.', '<b>fine</b>']);
      });

      it('what needs layout, timers or the network is refused with a sentence', async () => {
        for (const code of [
          'getComputedStyle(document.body)',
          'document.body.offsetWidth',
          'setTimeout(() => 1)',
          'fetch("/x")',
        ]) {
          const result = await evaluate(code);
          expect(result).toMatchObject({ ok: false, failure: { reason: 'threw', line: 1 } });
          expect(!result.ok && result.failure.message).toMatch(/^NotSupportedError: .* .* .*\.$/);
        }
      });

      it('selectors of descendants find the same whether many or few fit, also where holders are nested', async () => {
        const cells = '<td><span class=s>x</span><td>y';
        const rows = Array.from({ length: 30 }, () => `<tr>${cells}`).join('');
        const html = `<div class=o><div class=o><p class=s></p><table class=q><thead><tr><th class=s><tbody>${rows}</table></div></div>
          <table class=q>${rows}</table><section class=s><span class=s></span></section><template><div class=o><i class=s></i></div></template>`;
        const code = `const all = Array.from(document.querySelectorAll('*')); const mismatches = [];
          for (const selector of ['.o .s', '.o .o .s', 'div .q .s', '.q tbody tr', '.o tbody .s', '.s .s', '.o .q td', 'table td span', '.none .s', '.o .none .s', 'body .o .q tr td .s', '.o > .o .s', '.q tr:nth-child(2) .s', ':is(.o, .q) .s'])
            for (const root of [document, document.body, document.querySelector('.o .o'), document.querySelector('.q tbody')]) {
              const wanted = all.filter((each) => root !== each && root.contains(each) && each.matches(selector));
              const found = Array.from(root.querySelectorAll(selector));
              if (wanted.length !== found.length || wanted.some((each, at) => each !== found[at])) mismatches.push(selector);
            }
          const table = document.querySelector('.q');
          page.report('value', [mismatches, Array.from(table.rows, (row) => row.rowIndex).every((index, at) => index === at), table.rows.length,
            table.tBodies[0].rows[4].sectionRowIndex, table.rows[2].cells[1].cellIndex, table.rows[2].cells.length,
            document.querySelector('template').content.querySelectorAll('.o .s').length]);
          table.deleteRow?.(0); table.rows[0].remove(); page.report('after', table.rows[0].rowIndex); true`;
        const result = await evaluate(code, { page: pageOf(html) });
        expect(result.values).toEqual({ value: [[], true, 31, 4, 1, 2, 1], after: 0 });
      });

      it('a selector that cannot be read is a SyntaxError', async () => {
        for (const selector of ['li!!', 'li >', '[x', ':nope', 'a,,b', ':nth-child(x)', '#1a b:has(']) {
          const result = await evaluate(`document.querySelector(${JSON.stringify(selector)})`);
          expect(!result.ok && result.failure.message).toMatch(/^SyntaxError: /);
        }
      });

      it('keeps NUL, lone surrogates and every other character as they are', async () => {
        const page = pageOf('<p title="a&#0;b">x\u0000y \ud83d\ude00 é &#xD800;</p>');
        expect(await valueOf('[...document.querySelector("p").textContent].length', { page })).toBeGreaterThan(5);
        expect(await valueOf('"a\\u0000b\\ud800"')).toBe('a\u0000b\ud800');
      });
    });

    describe('scripts of actions', () => {
      const globals: JsonObject = { event: { id: 'x' }, secrets: { token: 't' } };
      const script = (code: string, form: CodeForm) =>
        sandbox.runScript({ code, form, globals, seed: 's', nowMs: 0, limits: quick });

      it('answer any JSON value, with what they are given in scope', async () => {
        const expected = { ok: true, value: { url: 'https://a/x', auth: 't' }, logs: [{ level: 'log', message: 'x' }] };
        const body = 'console.log(event.id); return { url: "https://a/" + event.id, auth: secrets.token }';
        expect(await script(body, 'body')).toEqual(expected);
        expect(await script(`(event, secrets) => { ${body} }`, 'function')).toEqual(expected);
        expect(await script('[event.id, null, undefined, NaN]', 'script')).toMatchObject({
          value: ['x', null, null, null],
        });
      });

      it('have no page', async () => {
        expect(await script('typeof document + typeof page', 'script')).toMatchObject({ value: 'undefinedundefined' });
      });

      it('end by the same limits', async () => {
        expect(await script('for (;;);', 'script')).toMatchObject({ ok: false, failure: { reason: 'cpu_limit' } });
        expect(await script('"x".repeat(1e6)', 'script')).toMatchObject({ failure: { reason: 'output_limit' } });
        expect(await script('const a = {}; a.a = a; a', 'script')).toMatchObject({ failure: { reason: 'threw' } });
      });
    });
  });
}
