import { describe, expect, it } from '@jest/globals';
import type { ContentKind } from '#sandbox/sandbox';
import { encodingOf, prescan, toUtf8 } from './encoding.js';

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));

function read(body: Uint8Array, kind: ContentKind = 'html', charset: string | null = null): readonly [string, string] {
  const text = toUtf8(body, kind, charset);
  return text.ok ? [text.encoding, new TextDecoder().decode(text.body)] : ['refused', text.label];
}

describe('labels', () => {
  it.each([
    ['utf-8', 'utf-8'],
    ['UTF8', 'utf-8'],
    ['unicode-1-1-utf-8', 'utf-8'],
    ['  utf-8\n', 'utf-8'],
    ['ascii', 'windows-1252'],
    ['us-ascii', 'windows-1252'],
    ['latin1', 'windows-1252'],
    ['l1', 'windows-1252'],
    ['iso-8859-1', 'windows-1252'],
    ['iso8859-1', 'windows-1252'],
    ['cp1252', 'windows-1252'],
    ['cp819', 'windows-1252'],
    ['iso-8859-2', 'iso-8859-2'],
    ['latin2', 'iso-8859-2'],
    ['iso-8859-5', 'iso-8859-5'],
    ['cyrillic', 'iso-8859-5'],
    ['iso-8859-8-i', 'iso-8859-8-i'],
    ['logical', 'iso-8859-8-i'],
    ['visual', 'iso-8859-8'],
    ['iso-8859-9', 'windows-1254'],
    ['latin5', 'windows-1254'],
    ['iso-8859-11', 'windows-874'],
    ['tis-620', 'windows-874'],
    ['iso-8859-15', 'iso-8859-15'],
    ['iso-8859-16', 'iso-8859-16'],
    ['koi8-r', 'koi8-r'],
    ['koi', 'koi8-r'],
    ['koi8-ru', 'koi8-u'],
    ['macintosh', 'macintosh'],
    ['x-mac-ukrainian', 'x-mac-cyrillic'],
    ['windows-1251', 'windows-1251'],
    ['cp866', 'ibm866'],
    ['gb2312', 'gbk'],
    ['chinese', 'gbk'],
    ['gbk', 'gbk'],
    ['gb18030', 'gb18030'],
    ['big5-hkscs', 'big5'],
    ['x-x-big5', 'big5'],
    ['euc-jp', 'euc-jp'],
    ['iso-2022-jp', 'iso-2022-jp'],
    ['shift-jis', 'shift_jis'],
    ['windows-31j', 'shift_jis'],
    ['ms932', 'shift_jis'],
    ['ks_c_5601-1987', 'euc-kr'],
    ['korean', 'euc-kr'],
    ['windows-949', 'euc-kr'],
    ['utf-16', 'utf-16le'],
    ['ucs-2', 'utf-16le'],
    ['utf-16be', 'utf-16be'],
    ['x-user-defined', 'x-user-defined'],
    ['utf-7', null],
    ['utf-32', null],
    ['nonsense', null],
    ['', null],
    ['utf-8\0', null],
    ['ütf-8', null],
  ])('%j is %s', (label, encoding) => {
    expect(encodingOf(label)).toBe(encoding);
  });
});

describe('the encoding of a page', () => {
  it('is that of its byte order mark, whatever else is said', () => {
    expect(read(bytes('\xef\xbb\xbfgr\xc3\xbc\xc3\x9fe'), 'html', 'iso-8859-1')).toEqual(['utf-8', 'grüße']);
    expect(read(bytes('\xff\xfeg\0r\0\xfc\0'), 'html', 'utf-8')).toEqual(['utf-16le', 'grü']);
    expect(read(bytes('\xfe\xff\0g\0r\0\xfc'), 'text', null)).toEqual(['utf-16be', 'grü']);
    expect(read(bytes('\xef\xbb\xbf{"a":1}'), 'json', null)).toEqual(['utf-8', '{"a":1}']);
  });

  it('is that of the header before that of the page', () => {
    const page = bytes('<meta charset=koi8-r>\xe4');
    expect(read(page, 'html', 'windows-1251')).toEqual(['windows-1251', '<meta charset=koi8-r>д']);
    expect(read(page, 'html', 'unheard-of')[0]).toBe('koi8-r');
    expect(read(page)).toEqual(['koi8-r', '<meta charset=koi8-r>Д']);
  });

  it('is UTF-8 where it can be, and windows-1252 where not, if nobody says', () => {
    expect(read(bytes('caf\xc3\xa9'))).toEqual(['utf-8', 'café']);
    expect(read(bytes('caf\xe9 \x80'))).toEqual(['windows-1252', 'café €']);
    expect(read(bytes('caf\xe9'), 'text')).toEqual(['windows-1252', 'café']);
    expect(read(new Uint8Array(0))).toEqual(['utf-8', '']);
  });

  it('is UTF-8 for JSON, and for XML that does not say', () => {
    expect(read(bytes('"caf\xe9"'), 'json', 'iso-8859-1')).toEqual(['utf-8', '"caf\ufffd"']);
    expect(read(bytes('<a>\xe9</a>'), 'xml')).toEqual(['utf-8', '<a>\ufffd</a>']);
    expect(read(bytes('<?xml version="1.0" encoding="iso-8859-1"?><a>\xe9</a>'), 'xml')[0]).toBe('windows-1252');
    expect(read(bytes("<?xml version='1.0' encoding = 'Shift_JIS' ?><a/>"), 'xml')[0]).toBe('shift_jis');
    expect(read(bytes('<\0?\0x\0m\0l\0?\0>\0'), 'xml')).toEqual(['utf-16le', '<?xml?>']);
    expect(read(bytes('\0<\0?\0x\0m\0l\0?\0>'), 'xml')).toEqual(['utf-16be', '<?xml?>']);
  });

  it.each([
    ['windows-1252', [0x80, 0x9f, 0xe4], '€Ÿä'],
    ['iso-8859-1', [0x80, 0x81], '€\x81'],
    ['iso-8859-2', [0xb1, 0xea], 'ąę'],
    ['iso-8859-15', [0xa4], '€'],
    ['windows-1251', [0xcf, 0xf0, 0xe8], 'При'],
    ['koi8-r', [0xf0, 0xd2, 0xc9], 'При'],
    ['ibm866', [0x8f, 0xe0, 0xa8], 'При'],
    ['macintosh', [0x8a, 0xdb], 'ä€'],
    ['windows-874', [0xa1], 'ก'],
    ['shift_jis', [0x82, 0xa0, 0x5c, 0xb1], 'あ\\ｱ'],
    ['euc-jp', [0xa4, 0xa2], 'あ'],
    ['iso-2022-jp', [0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42], 'あ'],
    ['gbk', [0xc4, 0xe3, 0x80], '你€'],
    ['gb18030', [0x81, 0x30, 0x81, 0x30], '\x80'],
    ['big5', [0xa4, 0x40], '一'],
    ['euc-kr', [0xb0, 0xa1], '가'],
    ['utf-16le', [0x61, 0x00, 0x00, 0xd8, 0x62, 0x00], 'a\ufffdb'],
    ['utf-16be', [0xd8, 0x3d, 0xde, 0x00], '😀'],
    ['x-user-defined', [0x41, 0x80, 0xff], 'A\uf780\uf7ff'],
    ['utf-8', [0x61, 0xff, 0xe2, 0x82, 0x62, 0x00], 'a\ufffd\ufffdb\0'],
    ['shift_jis', [0x81, 0x41 - 0x21], '\ufffd '],
  ])('reads %s', (charset, body, text) => {
    expect(read(Uint8Array.from(body), 'text', charset)[1]).toBe(text);
  });

  it('takes UTF-8 over without a copy', () => {
    const body = bytes('<p>caf\xc3\xa9');
    const text = toUtf8(body, 'html', 'utf-8');
    expect(text.ok && text.body === body).toBe(true);
  });

  it.each(['iso-2022-kr', 'HZ-GB-2312', 'iso-2022-cn', 'replacement', ' csiso2022kr '])('refuses %s', (label) => {
    expect(toUtf8(bytes('x'), 'html', label).ok).toBe(false);
    expect(toUtf8(bytes(`<meta charset="${label}">`), 'html', null).ok).toBe(false);
  });
});

describe('the prescan of a page', () => {
  it.each([
    ['<meta charset="utf-8">', 'utf-8'],
    ['<META CHARSET=KOI8-R>', 'koi8-r'],
    ["<meta charset='gbk' >", 'gbk'],
    ['<meta charset = "gbk">', 'gbk'],
    ['<meta/charset="gbk"/>', 'gbk'],
    ['<meta charset="">', null],
    ['<meta charset>', null],
    ['<meta charset="nonsense"><meta charset="gbk">', 'gbk'],
    ['<meta charset=utf-16>', 'utf-8'],
    ['<meta charset=utf-16be>', 'utf-8'],
    ['<meta charset=x-user-defined>', 'windows-1252'],
    ['<meta charset="gbk" charset="big5">', 'gbk'],
    ['<meta http-equiv="Content-Type" content="text/html; charset=gbk">', 'gbk'],
    ['<meta content="text/html; charset=gbk" http-equiv=content-type>', 'gbk'],
    ['<meta content="text/html; charset=gbk">', null],
    ['<meta http-equiv="refresh" content="text/html; charset=gbk">', null],
    ['<meta http-equiv="content-type" content="text/html; charset=\'gbk\'">', 'gbk'],
    ['<meta http-equiv="content-type" content="charset charset = gbk;x">', 'gbk'],
    ['<meta http-equiv="content-type" content="charset=gbk" charset="big5">', 'big5'],
    ['<!-- <meta charset="gbk"> --><meta charset="big5">', 'big5'],
    ['<!--><meta charset="gbk">', 'gbk'],
    ['<!-- <meta charset="gbk">', null],
    ['<!doctype html "<meta charset=gbk>"><meta charset=big5>', 'big5'],
    ['<?php x ?><meta charset=gbk>', 'gbk'],
    ['</meta charset=gbk><meta charset=big5>', 'big5'],
    ['<metadata charset=gbk>', null],
    ['<a title="<meta charset=gbk>"><meta charset=big5>', 'big5'],
    ['<script>"<meta charset=gbk>"</script>', 'gbk'],
    ['<meta name="a>b" charset=gbk>', 'gbk'],
    ['<meta charset="gbk', null],
    ['<meta charset=gbk', null],
    ['<meta', null],
    ['<', null],
    ['', null],
    ['plain text', null],
    ['<?xml version="1.0" encoding="gbk"?><html>', 'gbk'],
    ['<?xml version="1.0" encoding="gbk"?><meta charset=big5>', 'big5'],
    [`${' '.repeat(1_000)}<meta charset=gbk>`, 'gbk'],
    [`${' '.repeat(1_020)}<meta charset=gbk>`, null],
    [`<${'a '.repeat(600)}`, null],
    ['<meta '.repeat(300), null],
    ['<a b="'.repeat(200), null],
  ])('%j gives %s', (page, encoding) => {
    expect(prescan(bytes(page))).toBe(encoding);
  });
});
