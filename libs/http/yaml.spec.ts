import { describe, expect, it } from '@jest/globals';
import { parseYamlBody, toYaml } from './yaml.js';

const parse = (text: string): unknown => parseYamlBody(Buffer.from(text));
const many = (text: string, count: number): string => text.repeat(count);

describe('a body of YAML', () => {
  it('says what JSON says', () => {
    expect(parse('a: 1\nb: [true, null, x]\nc: "yes"\nd: yes\ne: |\n  one\n  two\n')).toEqual({
      a: 1,
      b: [true, null, 'x'],
      c: 'yes',
      d: 'yes',
      e: 'one\ntwo\n',
    });
    expect(parse('{"a": [1, {"b": "c"}]}')).toEqual({ a: [1, { b: 'c' }] });
    expect(parse('')).toBeUndefined();
    expect(parse('# nothing\n')).toBeUndefined();
  });

  it('comes back to the byte from what was written of it', () => {
    const value = {
      code: "return 'a: b' // # no comment\n  \n\ttabs\n",
      texts: [
        'yes',
        'null',
        '1e3',
        '0x1F',
        '- x',
        '&a',
        '!t',
        ' padded ',
        '',
        'ü\u202e\u0000',
        '%a',
        '2026-11-24',
        '---',
      ],
      long: many('word ', 100),
    };
    expect(parse(toYaml(value))).toEqual(value);
  });

  it.each([
    ['a: 1\na: 2', 'duplicate_field'],
    ['a: &x [1]\nb: *x', 'yaml_anchor'],
    ['a: &x 1', 'yaml_anchor'],
    [`a: &a [x]\n${Array.from({ length: 9 }, (_, at) => `b${at}: &b${at} [*a,*a,*a]`).join('\n')}`, 'yaml_anchor'],
    ['a: !!js/function "x"', 'yaml_tag'],
    ['a: !!binary aGk=', 'yaml_tag'],
    ['!mine {a: 1}', 'yaml_tag'],
    ['%YAML 1.1\n---\na: yes', 'yaml_tag'],
    ['a: 1\n---\nb: 2', 'several_documents'],
    ['a: [1, 2', 'malformed_yaml'],
    ['a: b: c', 'malformed_yaml'],
    ['\tx: 1', 'malformed_yaml'],
    ['__proto__: {a: 1}', 'unknown_field'],
    ['a: "\\ud800"', 'malformed_text'],
    [many('[', 900_000), 'too_deep'],
    [Array.from({ length: 60_000 }, (_, at) => `k${at}: 1`).join('\n'), 'too_many_values'],
    [`${many('[', 40)}${many(']', 40)}`, 'too_deep'],
    [`${many('- ', 20_000)}x`, 'too_deep'],
  ])('%#. is refused by name', (text, reason) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR', reason }));
  });

  it('that cannot be read is refused with why and where', () => {
    expect(() => parse('a: 1\nb: c: d\n')).toThrow(
      'The body is not YAML: Nested mappings are not allowed in compact mappings (line 2, column 4)',
    );
  });

  it('has the place of what cannot be read', () => {
    expect(() => parse('a: 1\nb: [2\nc: 3')).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ line: 3, column: 1 })] }),
    );
  });

  it('names the field that stands twice, however many there are', () => {
    const names = Array.from({ length: 15_000 }, (_, at) => `k${at}: 1`).join('\n');
    expect(() => parse(`${names}\nk7: 2`)).toThrow(
      expect.objectContaining({ reason: 'duplicate_field', details: [expect.objectContaining({ field: 'k7' })] }),
    );
  });

  it('may hold in its texts what is refused outside of them', () => {
    expect(parse('a: |\n  &x *y !z [[[\nb: "*c"\nd: x & y * z\n')).toEqual({
      a: '&x *y !z [[[\n',
      b: '*c',
      d: 'x & y * z',
    });
  });
});
