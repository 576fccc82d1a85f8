/** The DOM that code finds beyond what it reads most: XPath, ranges, walks, events, names, changes and reads after them. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jobOf } from './kit.contract.js';
import type { Sandbox } from './sandbox.js';

type Row = readonly [expression: string, value: unknown];

const xpath: readonly Row[] = [
  ['count("//li")', 3],
  ['count("//LI[@class]")', 2],
  ['text("//li[2]")', 'two'],
  ['text("//li[last()]/text()")', 'three'],
  ['text("//ul/li[contains(@class, \'item\')][2]")', 'two'],
  ['text("id(\'list\')/li[position() > 1][1]")', 'two'],
  ['text("(//li)[3]/preceding-sibling::li[1]")', 'two'],
  ['text("//td[2]/../td[1]")', 'tea'],
  ['text("//*[self::h1 or self::h2]/b")', 'world'],
  ['text("//li[normalize-space() = \'three\']/ancestor::ul/@id")', 'list'],
  ['text("//comment()")', ' note '],
  ['value("string(//title)")', ' The  shop '],
  ['value("normalize-space(//title)")', 'The shop'],
  ['value("count(//li) * 2 - 1 div 2")', 5.5],
  ['value("7 mod -3")', 1],
  ['value("substring(\'12345\', 1.5, 2.6)")', '234'],
  ["value(\"translate('1.234,50', '.,', '.')\")", '1.23450'],
  ['value("concat(name(//ul), local-name(//*[@id][1]))")', 'ulul'],
  ['value("boolean(//nothing) or not(//nothing)")', true],
  ['value("sum(//input/@maxlength)")', 0],
  ['value("round(-1.5) + floor(1.9) + ceiling(1.1)")', 2],
  ['value("//li = \'two\'")', true],
  ["value(\"number('x') = number('x')\")", false],
  ['value("string(1 div 0)")', 'Infinity'],
  ["value(\"starts-with(substring-after(//a/@href, '?'), 'y')\")", true],
  ['count("//li | //ul | //li[1]")', 4],
  ['count("//svg")', 0],
  ['count("//*[name() = \'svg\']")', 1],
  ['count("//s:svg", (prefix) => prefix === "s" ? "http://www.w3.org/2000/svg" : null)', 1],
  ['document.evaluate("//li", document, null, 7).snapshotItem(2).textContent', 'three'],
  ['document.evaluate("//li", document).iterateNext().textContent', 'one'],
  [
    'document.evaluate("li", document.querySelector("ul"), null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue.tagName',
    'LI',
  ],
  ['document.evaluate("//@href", document, null, 9).singleNodeValue.ownerElement.tagName', 'BASE'],
  ['new XPathEvaluator().createExpression("1 + 1").evaluate(document).numberValue', 2],
  ['fault(() => value("//li["))', 'SyntaxError'],
  ['fault(() => value("no-such()"))', 'SyntaxError'],
  ['fault(() => value("//x:y"))', 'NamespaceError'],
  ['fault(() => document.evaluate("1", document, null, 9))', 'TypeError'],
];

const ranges: readonly Row[] = [
  [
    'over((range) => { range.selectNodeContents(document.querySelector("ul")); return range.toString(); })',
    'onetwothree',
  ],
  [
    'over((range) => { range.setStart(document.querySelector("h1").firstChild, 2); range.setEndAfter(document.querySelector("h1 b")); return range.toString(); })',
    'llo world',
  ],
  [
    'over((range) => { range.selectNode(document.querySelector("li")); return range.cloneContents().firstChild.outerHTML; })',
    '<li class="item first">one</li>',
  ],
  [
    'over((range) => { range.setStartBefore(document.querySelectorAll("li")[1]); range.setEnd(document.querySelectorAll("li")[2].firstChild, 2); const cut = range.extractContents(); return [cut.textContent, document.querySelector("ul").textContent]; })',
    ['twoth', 'oneree'],
  ],
  [
    'over((range) => { range.selectNodeContents(document.querySelector("h1")); range.deleteContents(); return document.querySelector("h1").outerHTML; })',
    '<h1></h1>',
  ],
  [
    'over((range) => { range.selectNodeContents(document.querySelector("ul")); document.querySelector("li").remove(); return [range.endOffset, range.toString()]; })',
    [2, 'twothree'],
  ],
  ['over((range) => range.createContextualFragment("<b>1</b>2").childNodes.length)', 2],
  [
    'over((range) => { range.selectNodeContents(document.body); return range.comparePoint(document.querySelector("li"), 0); })',
    0,
  ],
  ['fault(() => over((range) => range.setStart(document.body, 99)))', 'IndexSizeError'],
  ['fault(() => over((range) => range.getBoundingClientRect()))', 'NotSupportedError'],
  ['getSelection().toString() + getSelection().rangeCount', '0'],
  [
    'new StaticRange({ startContainer: document.body, startOffset: 0, endContainer: document.body, endOffset: 1 }).collapsed',
    false,
  ],
];

const walks: readonly Row[] = [
  [
    '(() => { const found = []; const walk = document.createNodeIterator(document.querySelector("ul"), NodeFilter.SHOW_TEXT); for (let node = walk.nextNode(); node; node = walk.nextNode()) found.push(node.data); return found; })()',
    ['one', 'two', 'three'],
  ],
  [
    '(() => { const walk = document.createNodeIterator(document.querySelector("ul"), 1); walk.nextNode(); walk.nextNode(); document.querySelector("li").remove(); return walk.nextNode().textContent; })()',
    'two',
  ],
  [
    '(() => { const walk = document.createTreeWalker(document.body, 1, (node) => node.tagName === "LI" ? 1 : 3); walk.nextNode(); walk.nextNode(); return walk.currentNode.textContent + walk.previousNode().textContent; })()',
    'twoone',
  ],
];

const events: readonly Row[] = [
  [
    '(() => { const seen = []; for (const at of [window, document, document.body]) at.addEventListener("x", (event) => seen.push(event.eventPhase), true); document.body.dispatchEvent(new CustomEvent("x", { detail: 1 })); return seen; })()',
    [1, 1, 2],
  ],
  [
    '(() => { let said = ""; document.addEventListener("go", (event) => { said += event.target.tagName + event.detail; }); document.querySelector("li").dispatchEvent(new CustomEvent("go", { detail: 7, bubbles: true })); return said; })()',
    'LI7',
  ],
  [
    '(() => { let times = 0; const box = document.querySelector("input[type=checkbox]"); box.onclick = () => times++; box.addEventListener("change", () => { times += 10; }); box.click(); return [times, box.checked, box.matches(":checked")]; })()',
    [11, false, false],
  ],
  [
    'document.body.dispatchEvent(new Event("x", { cancelable: true })) && (document.body.addEventListener("x", (event) => event.preventDefault(), { once: true }), !document.body.dispatchEvent(new Event("x", { cancelable: true }))) && document.body.dispatchEvent(new Event("x", { cancelable: true }))',
    true,
  ],
  ['new EventTarget().dispatchEvent(new MouseEvent("x", { clientX: 3 }))', true],
  ['new KeyboardEvent("keydown", { key: "a" }).key + new Event("x").type', 'ax'],
  ['fault(() => document.dispatchEvent({}))', 'TypeError'],
];

const names: readonly Row[] = [
  ['document.querySelector("svg").getAttributeNode("viewBox").name', 'viewBox'],
  [
    '(() => { const a = document.querySelector("a").getAttributeNode("href"); return a === document.querySelector("a").attributes.href && a.ownerElement.tagName + a.value; })()',
    'A../x?y=1#z',
  ],
  [
    '(() => { const attribute = document.createAttribute("title"); attribute.value = "t"; document.body.setAttributeNode(attribute); return document.body.title; })()',
    't',
  ],
  [
    '(() => { document.body.setAttributeNS("urn:a", "p:x", "1"); return [document.body.getAttribute("p:x"), document.body.getAttributeNS("urn:a", "x"), document.body.hasAttribute("x"), document.querySelector("[*|x]") === document.body]; })()',
    ['1', '1', false, true],
  ],
  ['document.createElementNS("http://www.w3.org/2000/svg", "circle") instanceof SVGElement', true],
  ['document.createElementNS("urn:a", "p:q").tagName', 'p:q'],
  ['fault(() => document.createElementNS(null, "p:q"))', 'NamespaceError'],
  ['fault(() => document.createElement("1"))', 'InvalidCharacterError'],
  ['fault(() => document.querySelector("svg|a"))', 'SyntaxError'],
  ['document.querySelectorAll("*|li").length', 3],
  ['document.querySelectorAll("|li").length', 0],
];

const changes: readonly Row[] = [
  ['fault(() => document.body.append(document.documentElement))', 'HierarchyRequestError'],
  ['fault(() => document.appendChild(document.createElement("p")))', 'HierarchyRequestError'],
  ['fault(() => document.appendChild(document.createTextNode("x")))', 'HierarchyRequestError'],
  ['fault(() => document.body.insertBefore(document.createElement("p"), document.documentElement))', 'NotFoundError'],
  [
    '(() => { const text = document.createTextNode("abc"); document.body.replaceChildren(text); text.splitText(1); document.body.append("d"); const before = document.body.childNodes.length; document.body.normalize(); return [before, document.body.childNodes.length, document.body.textContent]; })()',
    [3, 1, 'abcd'],
  ],
  [
    '(() => { const first = document.querySelector("li"); first.replaceWith("x", first, "y"); return document.querySelector("ul").textContent; })()',
    'xoneytwothree',
  ],
  [
    '(() => { const list = document.querySelector("ul"); list.insertAdjacentHTML("afterbegin", "<li>zero"); list.lastElementChild.insertAdjacentText("beforeend", "!"); return [...list.children].map((each) => each.textContent); })()',
    ['zero', 'one', 'two', 'three!'],
  ],
  [
    '(() => { const other = document.implementation.createHTMLDocument("t"); const p = other.createElement("p"); const before = p.ownerDocument === other; document.body.append(p); return [before, p.ownerDocument === document, other.title]; })()',
    [true, true, 't'],
  ],
  [
    '(() => { const list = document.querySelector("ul"); const live = list.children; list.append(document.createElement("li")); list.firstChild.remove(); return live.length; })()',
    3,
  ],
  ['document.querySelector("li").cloneNode(true).isEqualNode(document.querySelector("li"))', true],
  ['document.body.compareDocumentPosition(document.querySelector("li"))', 20],
  ['document.querySelector("h1").firstChild.substringData(1, 3)', 'ell'],
  ['fault(() => document.querySelector("h1").firstChild.deleteData(99, 1))', 'IndexSizeError'],
  ['fault(() => document.querySelector("h1").offsetWidth)', 'NotSupportedError'],
];

const helpers = `
const single = (expression, resolver) => document.evaluate(expression, document, resolver ?? null, 9).singleNodeValue;
const count = (expression, resolver) => document.evaluate(expression, document, resolver ?? null, 7).snapshotLength;
const text = (expression) => single(expression)?.textContent;
const value = (expression) => {
  const result = document.evaluate(expression, document);
  return result[['', 'numberValue', 'stringValue', 'booleanValue'][result.resultType]];
};
const over = (use) => use(document.createRange());
const fault = (act) => { try { act(); return 'none'; } catch (error) { return error.name; } };
`;

const groups = { XPath: xpath, ranges, walks, events, names, 'changes and reads after them': changes };

export function describeNodes(name: string, create: () => Sandbox): void {
  describe(`${name} with nodes`, () => {
    let sandbox: Sandbox;
    beforeAll(() => {
      sandbox = create();
    });
    afterAll(() => sandbox.close());

    describe.each(Object.entries(groups))('%s', (_group, rows) => {
      it.each(rows)('%s', async (expression, value) => {
        const result = await sandbox.evaluate(jobOf(`${helpers}page.report('value', ${expression}); true`));
        if (!result.ok) throw new Error(`${result.failure.reason}: ${result.failure.message}`);
        expect(result.values['value']).toEqual(value);
      });
    });
  });
}
