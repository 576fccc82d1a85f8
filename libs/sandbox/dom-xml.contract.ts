/** What code finds in pages of XML, and in the documents it makes of XML. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jobOf, pageOf, reasonOf } from './kit.contract.js';
import type { EvaluationResult, Sandbox, SandboxPage } from './sandbox.js';

const feed = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE rss [<!ENTITY firm "Acme &amp; Sons"><!ENTITY both "&firm;, &#x41;">]>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>&both;</title><link>https://news.example/</link>
<item class="lead top"><title>One</title><pubDate>Mon, 06 Jan 2025 10:00:00 GMT</pubDate><dc:creator>Al</dc:creator>
<media:content url="a.jpg" media:kind="image"/><description><![CDATA[<b>bold</b> & more]]></description></item>
<item><title>Two</title><pubDate>Tue, 07 Jan 2025 10:00:00 GMT</pubDate><dc:creator>Bo</dc:creator></item>
</channel><?note  end?></rss>`;

const vector = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 1 1">
<linearGradient id="g"/><use xlink:href="#g"/><title>Chart</title></svg>`;

const xmlPage = (body: string, type = 'application/xml'): SandboxPage =>
  pageOf(body, { contentKind: 'xml', headers: { 'content-type': type } });

export function describeXmlPages(name: string, create: () => Sandbox): void {
  describe(`${name} with XML`, () => {
    let sandbox: Sandbox;
    beforeAll(() => {
      sandbox = create();
    });
    afterAll(() => sandbox.close());

    const run = (code: string, page: SandboxPage): Promise<EvaluationResult> => sandbox.evaluate(jobOf(code, { page }));
    const valueOf = async (expression: string, page = xmlPage(feed)): Promise<unknown> => {
      const result = await run(`page.report('value', ${expression}); true`, page);
      if (!result.ok) throw new Error(`${expression}: ${result.failure.reason}: ${result.failure.message}`);
      return result.values['value'];
    };

    const reads: readonly (readonly [string, unknown])[] = [
      ['document.querySelectorAll("item > pubDate").length', 2],
      ['document.querySelectorAll("item > pubdate").length', 0],
      ['document.getElementsByTagName("pubDate")[1].textContent', 'Tue, 07 Jan 2025 10:00:00 GMT'],
      ['document.getElementsByTagName("dc:creator").length', 2],
      ['document.getElementsByTagName("creator").length', 0],
      ['document.getElementsByTagNameNS("http://purl.org/dc/elements/1.1/", "creator")[0].textContent', 'Al'],
      ['document.getElementsByTagNameNS("*", "*").length', 14],
      ['document.querySelector("creator").tagName', 'dc:creator'],
      ['document.querySelector("creator").localName + document.querySelector("creator").prefix', 'creatordc'],
      ['document.querySelector("creator").namespaceURI', 'http://purl.org/dc/elements/1.1/'],
      ['document.querySelector("item").namespaceURI', null],
      ['document.querySelector("channel > title").textContent', 'Acme & Sons, A'],
      ['document.querySelector(".lead").querySelector("title").textContent', 'One'],
      ['document.querySelector("content").getAttribute("media:kind")', 'image'],
      ['document.querySelector("content").getAttribute("kind")', null],
      ['document.querySelector("content").getAttributeNS("http://search.yahoo.com/mrss/", "kind")', 'image'],
      ['document.querySelector("[*|kind]").getAttribute("url")', 'a.jpg'],
      ['document.querySelector("[kind]")', null],
      ['[...document.querySelector("content").attributes].map((a) => a.localName).join()', 'url,kind'],
      ['document.querySelector("description").textContent', '<b>bold</b> & more'],
      ['document.querySelector("description").firstChild.nodeType', 4],
      ['document.querySelector("description").innerHTML', '<![CDATA[<b>bold</b> & more]]>'],
      ['document.documentElement.lastChild.target + document.documentElement.lastChild.data', 'noteend'],
      ['document.documentElement.nodeName + document.contentType', 'rssapplication/xml'],
      ['document.body', null],
      ['document.doctype.name', 'rss'],
      ['document instanceof XMLDocument', true],
      ['document.querySelector("item") instanceof HTMLElement', false],
      ['document.querySelectorAll("item")[1].outerHTML.includes("xmlns:dc=")', true],
      ['document.createElement("Item").tagName', 'Item'],
      ['document.documentElement.lookupNamespaceURI("dc")', 'http://purl.org/dc/elements/1.1/'],
      ['document.documentElement.lookupPrefix("http://search.yahoo.com/mrss/")', 'media'],
      ['page.text.length', feed.length],
    ];
    it.each(reads)('%s', async (expression, value) => {
      expect(await valueOf(expression)).toEqual(value);
    });

    it('reads SVG and XHTML with their own namespaces', async () => {
      const image = xmlPage(vector, 'image/svg+xml');
      expect(await valueOf('document.querySelector("linearGradient").tagName + document.title', image)).toBe(
        'linearGradientChart',
      );
      expect(await valueOf('document.documentElement instanceof SVGElement', image)).toBe(true);
      expect(await valueOf('document.querySelector("use").getAttribute("xlink:href")', image)).toBe('#g');
      const xhtml = xmlPage(
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body><p>a&nbsp;b<br/></p></body></html>',
        'application/xhtml+xml',
      );
      expect(await valueOf('document.body.firstChild.tagName + document.title', xhtml)).toBe('pT');
      expect(
        await valueOf('document.querySelector("p").innerText + document.querySelectorAll("P").length', xhtml),
      ).toBe('a\u00a0b\n0');
    });

    it('reads XML that is not well-formed up to the first error, with a parsererror at its place', async () => {
      const broken = xmlPage('<list><item>1</item><item>2</itm></list>');
      expect(await valueOf('document.querySelectorAll("item").length', broken)).toBe(2);
      expect(await valueOf('document.querySelector("parsererror > div").textContent', broken)).toMatch(
        /^error on line 1 at column \d+: /,
      );
      expect(await valueOf('document.documentElement.tagName', xmlPage('no markup'))).toBe('html');
      expect(await valueOf('document.querySelector("parsererror") !== null', xmlPage('<a>&eacute;</a>'))).toBe(true);
      expect(await valueOf('document.querySelector("parsererror") !== null', xmlPage(''))).toBe(true);
    });

    it('rejects a page whose entities expand without end', async () => {
      const names = Array.from('abcdefghijklmnop');
      const declared = names.map((each, at) => {
        const value = at === 0 ? 'x'.repeat(50) : `&${names[at - 1] ?? ''};`.repeat(10);
        return `<!ENTITY ${each} "${value}">`;
      });
      const bomb = `<!DOCTYPE a [${declared.join('')}]><a>`;
      expect(reasonOf(await run('true', xmlPage(`${bomb}&p;</a>`)))).toBe('page_too_complex');
      expect(reasonOf(await run('true', xmlPage(`${bomb}${'&c;'.repeat(20_000)}</a>`)))).toBe('page_too_complex');
      const circle = '<!DOCTYPE a [<!ENTITY a "&b;"><!ENTITY b "&a;">]><a>&a;</a>';
      expect(await valueOf('document.querySelector("parsererror") !== null', xmlPage(circle))).toBe(true);
      const outside = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><a>&a;</a>';
      expect(await valueOf('document.documentElement.textContent.includes("root:")', xmlPage(outside))).toBe(false);
    });

    it('rejects a page beyond the limits', async () => {
      expect(reasonOf(await run('true', xmlPage('<a>'.repeat(600))))).toBe('page_too_complex');
      expect(reasonOf(await run('true', xmlPage(`<a>${'<b/>'.repeat(200_001)}</a>`)))).toBe('page_too_complex');
    });

    const made: readonly (readonly [string, unknown])[] = [
      ['parse("<a><B c=\'1\'/></a>", "text/xml").querySelector("B").tagName', 'B'],
      ['parse("<a/>", "application/xml").documentElement.ownerDocument.contentType', 'application/xml'],
      ['parse("<a>", "text/xml").getElementsByTagName("parsererror").length', 1],
      ['parse("<p>x", "text/html").body.innerHTML', '<p>x</p>'],
      [
        'parse("<svg xmlns=\'http://www.w3.org/2000/svg\'><g/></svg>", "image/svg+xml").firstChild.innerHTML',
        '<g xmlns="http://www.w3.org/2000/svg"/>',
      ],
      ['write(parse("<a b=\'&quot;&lt;\'>x<c/></a>", "text/xml"))', '<a b="&quot;&lt;">x<c/></a>'],
      ['write(document.querySelector("p"))', '<p xmlns="http://www.w3.org/1999/xhtml">a<br /></p>'],
      ['write(document.createElementNS("urn:a", "p:q"))', '<p:q xmlns:p="urn:a"/>'],
      ['document.implementation.createDocument("urn:a", "r", null).documentElement.namespaceURI', 'urn:a'],
      [
        '(() => { const d = parse("<a/>", "text/xml"); d.documentElement.innerHTML = "<b>1</b>"; return write(d); })()',
        '<a><b>1</b></a>',
      ],
      [
        '(() => { try { parse("<a/>", "text/xml").documentElement.innerHTML = "<b>"; } catch (e) { return e.name; } })()',
        'SyntaxError',
      ],
      ['(() => { try { parse("<a/>", "text/plain"); } catch (e) { return e.name; } })()', 'TypeError'],
    ];
    it.each(made)('reads documents made by code: %s', async (expression, value) => {
      const code = `(() => {
        const parse = (text, type) => new DOMParser().parseFromString(text, type);
        const write = (node) => new XMLSerializer().serializeToString(node);
        return ${expression}; })()`;
      expect(await valueOf(code, pageOf('<!doctype html><p>a<br></p>'))).toEqual(value);
    });
  });
}
