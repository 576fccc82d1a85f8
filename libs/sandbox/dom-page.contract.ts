/** What code reads and changes on a page: the DOM as most scripts use it. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { asking, pageOf, reasonOf } from './kit.contract.js';
import type { Sandbox } from './sandbox.js';

export function describeDomOfPages(name: string, create: () => Sandbox): void {
  describe(`${name} with a page`, () => {
    let sandbox: Sandbox;
    beforeAll(() => {
      sandbox = create();
    });
    afterAll(() => sandbox.close());

    const { evaluate, valueOf } = asking(() => sandbox);

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

    it('finds nodes made by the code like those of the page', async () => {
      const code = `const ul = document.querySelector('ul');
        for (let at = 0; at < 1000; at++) { const li = document.createElement('li'); li.setAttribute('id', 'n' + at); li.textContent = at; ul.append(li); }
        page.report('value', [ul.children.length, ul.children[1002].id, document.querySelectorAll('li').length, document.getElementById('n999').textContent]); true`;
      const result = await evaluate(code);
      expect(result).toMatchObject({ ok: true });
      expect(result.values['value']).toEqual([1003, 'n999', 1003, '999']);
    });

    it('reads innerText as a browser does: blocks, breaks, cells, nothing hidden', async () => {
      expect(await valueOf('document.querySelector("table").innerText')).toBe('name\tprice\ntea\t1.234,50 €');
      const body = pageOf(
        '<body> a  <b>b</b>\n c<p>d</p><div>e<br>f</div><script>g</script><span hidden>h</span></body>',
      );
      expect(await valueOf('document.body.innerText', { page: body })).toBe('a b c\n\nd\n\ne\nf');
    });

    it('applies changes to the copy of the page alone', async () => {
      const code = `const p = document.createElement('p'); p.textContent = 'n<w'; p.className = 'new'; document.body.append(p);
        document.querySelector('li').remove(); document.querySelector('ul').firstElementChild.setAttribute('id', 'now');
        page.report('value', [document.body.lastElementChild.outerHTML, document.querySelectorAll('li').length,
          document.getElementById('now').textContent, document.querySelectorAll('p.new').length, document.querySelectorAll('p').length]); true`;
      const result = await evaluate(code);
      expect(result.values['value']).toEqual(['<p class="new">n&lt;w</p>', 2, 'two', 1, 3]);
    });

    it('parses markup written by the code, through every API for it', async () => {
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

    it('keeps texts, attributes, comments and foreign elements of markup written by the code', async () => {
      const code = `const box = document.createElement('div'); const markup = '<p class="a b" id="x" title="é€😀">q<!-- c --><svg viewBox="0 0"><a xlink:href="#"></a></svg></p>';
        box.innerHTML = markup; document.body.append(box); const page_ = new DOMParser().parseFromString('<!doctype html><body><noscript>a<b>c</b></noscript>', 'text/html');
        page.report('value', [box.innerHTML === markup, document.querySelector('.b#x').title, box.querySelector('svg').namespaceURI, page_.doctype.name,
          page_.querySelector('noscript b') !== null, document.querySelectorAll('#x').length]); true`;
      const result = await evaluate(code);
      expect(result.values['value']).toEqual([true, 'é€😀', 'http://www.w3.org/2000/svg', 'html', true, 1]);
    });

    it('rejects markup beyond the limits of a page with a message, and the code goes on', async () => {
      const code = `const box = document.createElement('div'); let message = '';
        try { box.innerHTML = '<div>'.repeat(600); } catch (error) { message = error.message; }
        box.innerHTML = '<b>fine'; page.report('value', [message, box.innerHTML]); true`;
      const result = await evaluate(code);
      expect(result.values['value']).toEqual(['The markup nests its elements more than 512 deep.', '<b>fine</b>']);
    });

    it('rejects what needs layout, timers or the network with a message', async () => {
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

    it('finds the same descendants by selector whether many or few match, also in nested ancestors', async () => {
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

    it('throws a SyntaxError for an invalid selector', async () => {
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
}
