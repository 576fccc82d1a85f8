/** What every page parser does: the same tables of the same page, limits that hold, nothing kept from page to page. */
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { checkFlatPage } from './flat-page-check.js';
import { indexesOf, outlineOf } from './flat-page-outline.js';
import { decodeText, headerWords } from './flat-page.js';
import type { FlatPage } from './flat-page.js';
import { defaultPageLimits, PageTooComplex } from './page-parser.js';
import type { MarkupContext, PageParser, ParsedPage } from './page-parser.js';
import type { ContentKind } from '../sandbox.js';

const lines = (...all: readonly string[]): string => all.map((line) => `| ${line}`).join('\n');

export function describePageParser(name: string, create: () => PageParser): void {
  describe(`${name} as a page parser`, () => {
    let parser: PageParser;
    beforeAll(() => {
      parser = create();
    });

    const pageOf = (body: string | Uint8Array, kind: ContentKind = 'html'): ParsedPage => {
      const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
      const page = parser.parsePage(bytes, kind, defaultPageLimits);
      checkFlatPage(page.flat);
      return page;
    };
    const markup = (text: string, context: MarkupContext | null): FlatPage => {
      const flat = parser.parseMarkup(text, context, defaultPageLimits);
      checkFlatPage(flat);
      return flat;
    };
    const inside = (tag: string, text: string, namespace: MarkupContext['namespace'] = 'html'): string =>
      outlineOf(markup(text, { tag, namespace }));

    it('writes elements, attributes, texts, comments and doctypes in document order', () => {
      const { flat } = pageOf('<!DOCTYPE html PUBLIC "a" "b"><p b=2 a="1&amp;">x<!-- y --><br>z');
      expect(outlineOf(flat)).toBe(
        lines(
          '<!DOCTYPE html "a" "b">',
          '<html>',
          '  <head>',
          '  <body>',
          '    <p>',
          '      a="1&"',
          '      b="2"',
          '      "x"',
          '      <!--  y  -->',
          '      <br>',
          '      "z"',
        ),
      );
    });

    it('adds elements that a page leaves out, and moves misplaced ones', () => {
      expect(outlineOf(pageOf('<table>a<tr><td>b</table>').flat)).toBe(
        lines(
          '<html>',
          '  <head>',
          '  <body>',
          '    "a"',
          '    <table>',
          '      <tbody>',
          '        <tr>',
          '          <td>',
          '            "b"',
        ),
      );
    });

    it('names foreign elements and their attributes as they are written', () => {
      const { flat } = pageOf(
        '<svg VIEWBOX="0 0" xlink:href="#a"><foreignobject><p></p></foreignobject></svg><math><mi>',
      );
      expect(outlineOf(flat)).toBe(
        lines(
          '<html>',
          '  <head>',
          '  <body>',
          '    <svg svg>',
          '      viewBox="0 0"',
          '      xlink href="#a"',
          '      <svg foreignObject>',
          '        <p>',
          '    <math math>',
          '      <math mi>',
        ),
      );
      expect(decodeText(flat.names).split('\0')).toContain('xlink:href');
    });

    it('puts the contents of templates into rows of their own', () => {
      const { flat } = pageOf('<template><td>a<template>b</template></template><p>c');
      expect(outlineOf(flat)).toBe(
        lines(
          '<html>',
          '  <head>',
          '    <template>',
          '      content',
          '        <td>',
          '          "a"',
          '          <template>',
          '            content',
          '              "b"',
          '  <body>',
          '    <p>',
          '      "c"',
        ),
      );
      expect(flat.tables[headerWords.templates]).toBe(2);
    });

    it('reads a page as a browser that runs scripts does: noscript is text', () => {
      expect(outlineOf(pageOf('<body><noscript><p>a</noscript>').flat)).toContain('"<p>a"');
    });

    it('reads what is in a textarea as text, also after formatting that nobody closed', () => {
      const { flat } = pageOf('<p><b>a<p><textarea>\n<i>x</textarea>y');
      expect(outlineOf(flat)).toContain('      <textarea>\n|         "<i>x"\n|       <b>\n|         "y"');
    });

    it('shows a processing instruction as a comment', () => {
      expect(outlineOf(pageOf('<?xml version="1.0"?><p>a<?b c?>').flat)).toBe(
        lines(
          '<!-- ?xml version="1.0"? -->',
          '<html>',
          '  <head>',
          '  <body>',
          '    <p>',
          '      "a"',
          '      <!-- ?b c? -->',
        ),
      );
    });

    it('detects quirks mode by a missing doctype', () => {
      expect(pageOf('<p>').flat.tables[headerWords.mode]).toBe(1);
      expect(pageOf('<!doctype html><p>').flat.tables[headerWords.mode]).toBe(0);
    });

    it('indexes tags, classes and ids by row, each once', () => {
      const { flat } = pageOf(
        '<p class="a b a" id=i><h1 class="\tb\n"></h1><p id=i class=""><svg class=a id=""></svg><i id=j>',
      );
      const [tags = [], classes, ids] = indexesOf(flat);
      expect(tags.map(([tag]) => tag)).toEqual(['body', 'h1', 'head', 'html', 'i', 'p', 'svg svg']);
      const rowsOf = (tag: string): readonly number[] => tags.find(([each]) => each === tag)?.[1] ?? [];
      const [first = -1, second = -1] = rowsOf('p');
      expect(classes).toEqual([
        ['a', [first, ...rowsOf('svg svg')]],
        ['b', [first, ...rowsOf('h1')]],
      ]);
      expect(ids).toEqual([
        ['i', [first, second]],
        ['j', rowsOf('i')],
      ]);
    });

    it('counts text in UTF-16 units, whatever the script', () => {
      const text = 'aé€😀'.repeat(40);
      const { flat, text: source } = pageOf(`<p title="${text}">${text}<b>${text}x`);
      expect(decodeText(flat.text)).toBe(`${text}${text}x`);
      expect(decodeText(flat.values)).toBe(text);
      expect(outlineOf(flat)).toContain(`"${text}x"`);
      expect(decodeText(source)).toBe(`<p title="${text}">${text}<b>${text}x`);
    });

    it('reads bytes that are not UTF-8 as replacement characters, and drops a byte order mark', () => {
      const { flat, text } = pageOf(new Uint8Array([0xef, 0xbb, 0xbf, 0x3c, 0x70, 0x3e, 0xff, 0xc3, 0x28]));
      expect(decodeText(text)).toBe('<p>\ufffd\ufffd(');
      expect(decodeText(flat.text)).toBe('\ufffd\ufffd(');
      expect(decodeText(pageOf(Buffer.from('\ufeffa')).text)).toBe('a');
    });

    it('wraps a body that is not markup as preformatted text', () => {
      const { flat, text } = pageOf('{"a":"<b>&amp;"}', 'json');
      expect(decodeText(text)).toBe('{"a":"<b>&amp;"}');
      expect(outlineOf(flat)).toContain('    <pre>\n|       "{"a":"<b>&amp;"}"');
    });

    it('gives an empty page its three elements', () => {
      for (const body of ['', ' ', '\0', '\n\n']) {
        expect(outlineOf(pageOf(body).flat)).toBe(lines('<html>', '  <head>', '  <body>'));
      }
    });

    it('keeps no state from one page to the next', () => {
      pageOf('<p class="secret" id="secret">secret<svg secret="secret">');
      const { flat } = pageOf('<p class=a>x');
      const texts = [flat.text, flat.values, flat.names, flat.classes, flat.ids].map(decodeText);
      expect(texts).toEqual(['x', 'a', expect.not.stringContaining('secret'), 'a', '']);
    });

    describe('for markup written by code', () => {
      it('parses it as inside its context element', () => {
        expect(inside('div', '<td>a<p>b<li>c')).toBe(lines('"a"', '<p>', '  "b"', '<li>', '  "c"'));
        expect(inside('tr', '<td>a<td>b')).toBe(lines('<td>', '  "a"', '<td>', '  "b"'));
        expect(inside('table', '<td>a')).toBe(lines('<tbody>', '  <tr>', '    <td>', '      "a"'));
        expect(inside('textarea', '<b>a')).toBe(lines('"<b>a"'));
        expect(inside('template', '<td>a')).toBe(lines('<td>', '  "a"'));
        expect(inside('x-unknown', '<i>a')).toBe(lines('<i>', '  "a"'));
        expect(inside('svg', '<circle/><a/>', 'svg')).toBe(lines('<svg circle>', '<svg a>'));
        expect(inside('foreignObject', '<p>a', 'svg')).toBe(lines('<p>', '  "a"'));
        expect(inside('mi', '<b>a', 'math')).toBe(lines('<b>', '  "a"'));
        expect(inside('math', '<mi>a', 'math')).toBe(lines('<math mi>', '  "a"'));
      });

      it('supports templates, and rows that begin with a fragment', () => {
        const flat = markup('<template><b class=a id=i>x</b></template>', { tag: 'div', namespace: 'html' });
        expect(outlineOf(flat)).toBe(
          lines('<template>', '  content', '    <b>', '      class="a"', '      id="i"', '      "x"'),
        );
      });

      it('parses a document where there is no context, with scripting disabled', () => {
        expect(outlineOf(markup('<!doctype html><body><noscript><p>a', null))).toBe(
          lines('<!DOCTYPE html>', '<html>', '  <head>', '  <body>', '    <noscript>', '      <p>', '        "a"'),
        );
      });

      it('accepts any text', () => {
        for (const text of ['', '\0', '\ud800', '\ufeffa', '<', '</', '<!', '<!--', '&', '\u0080'.repeat(300)]) {
          expect(() => inside('div', text)).not.toThrow();
        }
        expect(inside('div', '\ufeffa')).toBe(lines('"\ufeffa"'));
      });
    });

    describe('at its limits', () => {
      const small = { elements: 100, depth: 20, parseMs: 2_000 };
      const tooComplex: readonly (readonly [string, string, string])[] = [
        ['elements', '<br>'.repeat(101), 'The page has more than 100 elements.'],
        ['depth', '<div>'.repeat(30), 'The page nests its elements more than 20 deep.'],
        ['formatting that doubles', '<b><i>'.repeat(300), 'The page nests its elements more than 20 deep.'],
      ];
      it.each(tooComplex)('rejects a page by its %s', (_limit, page, message) => {
        expect(() => parser.parsePage(Buffer.from(page), 'html', small)).toThrow(PageTooComplex);
        expect(() => parser.parsePage(Buffer.from(page), 'html', small)).toThrow(message);
        expect(outlineOf(pageOf('<p>x').flat)).toContain('"x"');
      });

      it('rejects markup written by code as well', () => {
        expect(() => parser.parseMarkup('<br>'.repeat(101), { tag: 'div', namespace: 'html' }, small)).toThrow(
          PageTooComplex,
        );
        expect(inside('div', 'x')).toBe(lines('"x"'));
      });

      it('measures processor time of the page, not time that passed', () => {
        const rows = '<br>'.repeat(20_000);
        let nowMs = 0;
        const clock = jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 60_000));
        try {
          for (const kind of ['html', 'xml'] as const) {
            const text = kind === 'html' ? rows : `<all>${rows.replaceAll('<br>', '<br/>')}</all>`;
            expect(() => pageOf(text, kind)).not.toThrow();
          }
        } finally {
          clock.mockRestore();
        }
      });

      it('accepts long texts that a table moves out and joins', () => {
        const text = 'of forty characters, which are moved out, ';
        const { flat } = pageOf(`<table>${`<!--between-->${text}`.repeat(20_000)}`);
        expect(outlineOf(flat)).toContain(`  <body>\n|     "${text.repeat(20_000)}"\n|     <table>`);
      });

      it('accepts a page within all of them', () => {
        expect(() => pageOf('<div>'.repeat(500))).not.toThrow();
        expect(() => pageOf('<br>'.repeat(150_000))).not.toThrow();
        expect(outlineOf(pageOf('<p>x').flat)).toContain('"x"');
      });
    });
  });
}
