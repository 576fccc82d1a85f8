/** Templates of JSON: whatever a page says, the document stays the one that its writer meant. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '#runtime/json';
import { renderTemplate, type TemplateVariables } from './templates.js';

function rendered(template: string, value: Json): string {
  const variables: TemplateVariables = {
    task: { id: 'ntf_1', name: 'Price', description: '', url: 'https://shop.example/', tags: [] },
    execution: { id: 'exe_1', outcome: true, values: { value }, finishedAt: '2026-01-02T03:04:05Z', finalUrl: null },
    transition: null,
    value,
    values: { value },
    message: 'It became true.',
    hint: '',
    links: {},
    organization: { id: 'org_1' },
  };
  return renderTemplate(template, variables, 'json');
}
const parsed = (template: string, value: Json): unknown => JSON.parse(rendered(template, value));

const hostile: readonly string[] = [
  '1, "admin": true',
  '1}, {"admin": true',
  '"',
  '\\',
  '\\"',
  'a "b" \\ c\n\t\u0000\u2028',
  '", "admin": true, "x": "',
  '{"admin": true}',
  '[1]',
  '// /* */ `${x}` {{ value }}',
  '\ud800',
  '',
];

describe('a value in a document of JSON', () => {
  it.each(hostile)('is one value wherever it stands: %j', (text) => {
    expect(parsed('{"value": {{ value }} }', text)).toEqual({ value: text });
    expect(parsed('{"list": [1, {{ value }}, 2]}', text)).toEqual({ list: [1, text, 2] });
    expect(parsed('{"value": "{{ value }}"}', text)).toEqual({ value: text });
    expect(parsed('{"value": "before {{ value }}{{ value }} after"}', text)).toEqual({
      value: `before ${text}${text} after`,
    });
    expect(parsed('{"{{ value }}": 1}', text)).toEqual({ [text]: 1 });
    expect(parsed('{ {{ value }}: 1}', text)).toEqual({ [text]: 1 });
    expect(parsed('[{{ value }}]', text)).toEqual([text]);
    expect(parsed('{{ value }}', text)).toBe(text);
  });

  it.each(hostile)('is one value in a document inside a string, however deep: %j', (text) => {
    const nested = (document: unknown, depth: number): string =>
      depth === 0 ? JSON.stringify(document) : JSON.stringify({ payload: nested(document, depth - 1) });
    for (const depth of [1, 2, 3]) {
      const template = nested({ text: 'A {{ value }}', '{{ value }}': 1 }, depth);
      let document: unknown = parsed(template, text);
      for (let n = 0; n < depth; n += 1) document = JSON.parse((document as { payload: string }).payload);
      expect(document).toEqual({ text: `A ${text}`, [text]: 1 });
    }
    const place = String.raw`{"payload": "{\"value\": {{ value }}, \"list\": [{{ value }}]}"}`;
    const { payload } = parsed(place, text) as { payload: string };
    expect(JSON.parse(payload)).toEqual({ value: text, list: [text] });
  });

  it('is the same for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const inside = String.raw`{"a": "{{ value }}", "b": "{\"c\": \"{{ value }}\"}", "d": "\{{ value }}"}`;
        const document = parsed(inside, text) as { a: string; b: string; d: string };
        expect(document.a).toBe(text);
        expect(JSON.parse(document.b)).toEqual({ c: text });
        expect(document.d).toBe(`\\${text}`);
      }),
    );
  });

  it.each<[Json, unknown]>([
    [12.5, 12.5],
    [true, true],
    [null, null],
    ['39.90', 39.9],
    ['-1e3', -1_000],
    ['007', '007'],
    [{ a: '"' }, { a: '"' }],
    [
      ['x', 1],
      ['x', 1],
    ],
  ])('without quotes is what it is: %j', (value, shown) => {
    expect(parsed('{"value": {{ value }} }', value)).toEqual({ value: shown });
  });

  it('by the json filter is JSON where a value may stand, and its text inside quotes', () => {
    const value = { note: 'a "b"', list: [1] };
    expect(parsed('{"all": {{ value | json }} }', value)).toEqual({ all: value });
    expect(parsed('{"all": "{{ value | json }}"}', value)).toEqual({ all: JSON.stringify(value) });
    const nested = parsed(String.raw`{"payload": "{\"all\": {{ value | json }}}"}`, value) as { payload: string };
    expect(JSON.parse(nested.payload)).toEqual({ all: value });
  });

  it('that was captured, looped over or filtered is written once for its place', () => {
    const capture = '{% capture line %}<{{ value }}>{% endcapture %}{"a": "{{ line }}", "b": {{ line }} }';
    expect(parsed(capture, 'x "y"')).toEqual({ a: '<x "y">', b: '<x "y">' });
    const loop = '{"a": [{% for one in value %}{% unless forloop.first %},{% endunless %}{{ one }}{% endfor %}]}';
    expect(parsed(loop, ['a "b"', 2])).toEqual({ a: ['a "b"', 2] });
    expect(parsed('{"a": "{{ value | upcase }}", "b": {% echo value %} }', '"x"')).toEqual({ a: '"X"', b: '"x"' });
  });

  it('in a sentence inside a string is a part of the sentence, whatever quotation marks stand around it', () => {
    expect(parsed(String.raw`{"text": "He said \"{{ value }}\" [{{ value }}]"}`, 'a "b"')).toEqual({
      text: 'He said "a "b"" [a "b"]',
    });
    expect(parsed(String.raw`{"text": "[{{ value }}] \"{{ value }}\" {x} {{ value }}"}`, 'a "b"')).toEqual({
      text: '[a "b"] "a "b"" {x} a "b"',
    });
    expect(parsed(String.raw`{"text": "{{ value }} \"{{ value }}\""}`, 'a "b"')).toEqual({ text: 'a "b" "a "b""' });
  });
});
