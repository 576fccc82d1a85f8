import { describe, expect, it } from '@jest/globals';
import type { ContentKind } from '#sandbox/sandbox';
import { encodingOf, prescan, toUtf8 } from './encoding.js';

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));

function read(body: Uint8Array, kind: ContentKind = 'html', charset: string | null = null): readonly [string, string] {
  const text = toUtf8(body, kind, charset);
  return text.ok ? [text.encoding, new TextDecoder().decode(text.body)] : ['refused', text.label];
}

/** The table of the WHATWG Encoding standard (section 4.2), whole: the names of encodings and their labels. */
const labelsOf: Readonly<Record<string, string>> = {
  'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8',
  ibm866: '866 cp866 csibm866 ibm866',
  'iso-8859-2': 'csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2',
  'iso-8859-3': 'csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3',
  'iso-8859-4': 'csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4',
  'iso-8859-5': 'csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988',
  'iso-8859-6':
    'arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987',
  'iso-8859-7':
    'csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek',
  'iso-8859-8':
    'csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual',
  'iso-8859-8-i': 'csiso88598i iso-8859-8-i logical',
  'iso-8859-10': 'csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6',
  'iso-8859-13': 'iso-8859-13 iso8859-13 iso885913',
  'iso-8859-14': 'iso-8859-14 iso8859-14 iso885914',
  'iso-8859-15': 'csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9',
  'iso-8859-16': 'iso-8859-16',
  'koi8-r': 'cskoi8r koi koi8 koi8-r koi8_r',
  'koi8-u': 'koi8-ru koi8-u',
  macintosh: 'csmacintosh mac macintosh x-mac-roman',
  'windows-874': 'dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874',
  'windows-1250': 'cp1250 windows-1250 x-cp1250',
  'windows-1251': 'cp1251 windows-1251 x-cp1251',
  'windows-1252':
    'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
  'windows-1253': 'cp1253 windows-1253 x-cp1253',
  'windows-1254':
    'cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254',
  'windows-1255': 'cp1255 windows-1255 x-cp1255',
  'windows-1256': 'cp1256 windows-1256 x-cp1256',
  'windows-1257': 'cp1257 windows-1257 x-cp1257',
  'windows-1258': 'cp1258 windows-1258 x-cp1258',
  'x-mac-cyrillic': 'x-mac-cyrillic x-mac-ukrainian',
  gbk: 'chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk',
  gb18030: 'gb18030',
  big5: 'big5 big5-hkscs cn-big5 csbig5 x-x-big5',
  'euc-jp': 'cseucpkdfmtjapanese euc-jp x-euc-jp',
  'iso-2022-jp': 'csiso2022jp iso-2022-jp',
  shift_jis: 'csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis',
  'euc-kr': 'cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949',
  replacement: 'csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement',
  'utf-16be': 'unicodefffe utf-16be',
  'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le',
  'x-user-defined': 'x-user-defined',
};
const refused = labelsOf['replacement']?.split(' ') ?? [];
const readable = Object.entries(labelsOf)
  .filter(([encoding]) => encoding !== 'replacement')
  .flatMap(([encoding, labels]) => labels.split(' ').map((label) => [label, encoding] as const));

describe('an encoding label', () => {
  it('exists for each one of the standard', () => {
    expect(readable.length + refused.length).toBe(228);
  });

  it.each(readable)('%s names %s', (label, encoding) => {
    expect(encodingOf(label)).toBe(encoding);
    expect(encodingOf(`\t ${label.toUpperCase()}\n`)).toBe(encoding);
  });

  it.each(refused)('%s names an encoding that is not decoded', (label) => {
    expect(toUtf8(bytes('x'), 'html', label.toUpperCase())).toEqual({ ok: false, label: label.toUpperCase() });
    expect(encodingOf(label)).toBe(null);
  });

  it.each(['utf-7', 'utf-32', 'nonsense', '', 'utf-8\0', 'ütf-8', 'utf_8', 'utf 8', 'windows-1259', 'cesu-8'])(
    '%j names no encoding',
    (label) => {
      expect(encodingOf(label)).toBe(null);
    },
  );
});

/** Bytes 0xa0 to 0xff, as another implementation of the same tables has them. */
const upperHalves: readonly (readonly [encoding: string, characters: string])[] = [
  ['ibm866', 'абвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀рстуфхцчшщъыьэюяЁёЄєЇїЎў°∙·√№¤■\u00a0'],
  [
    'iso-8859-2',
    '\u00a0Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u00adŽŻ°ą˛ł´ľśˇ¸šşťź˝žżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙',
  ],
  [
    'iso-8859-3',
    '\u00a0Ħ˘£¤�Ĥ§¨İŞĞĴ\u00ad�Ż°ħ²³´µĥ·¸ışğĵ½�żÀÁÂ�ÄĊĈÇÈÉÊËÌÍÎÏ�ÑÒÓÔĠÖ×ĜÙÚÛÜŬŜßàáâ�äċĉçèéêëìíîï�ñòóôġö÷ĝùúûüŭŝ˙',
  ],
  [
    'iso-8859-4',
    '\u00a0ĄĸŖ¤ĨĻ§¨ŠĒĢŦ\u00adŽ¯°ą˛ŗ´ĩļˇ¸šēģŧŊžŋĀÁÂÃÄÅÆĮČÉĘËĖÍÎĪĐŅŌĶÔÕÖ×ØŲÚÛÜŨŪßāáâãäåæįčéęëėíîīđņōķôõö÷øųúûüũū˙',
  ],
  [
    'iso-8859-5',
    '\u00a0ЁЂЃЄЅІЇЈЉЊЋЌ\u00adЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя№ёђѓєѕіїјљњћќ§ўџ',
  ],
  [
    'iso-8859-6',
    '\u00a0���¤�������\u060c\u00ad�������������\u061b���\u061f�\u0621\u0622\u0623\u0624\u0625\u0626\u0627\u0628\u0629\u062a\u062b\u062c\u062d\u062e\u062f\u0630\u0631\u0632\u0633\u0634\u0635\u0636\u0637\u0638\u0639\u063a�����\u0640\u0641\u0642\u0643\u0644\u0645\u0646\u0647\u0648\u0649\u064a\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652�������������',
  ],
  [
    'iso-8859-7',
    '\u00a0‘’£€₯¦§¨©ͺ«¬\u00ad�―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ�ΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ�',
  ],
  [
    'iso-8859-10',
    '\u00a0ĄĒĢĪĨĶ§ĻĐŠŦŽ\u00adŪŊ°ąēģīĩķ·ļđšŧž―ūŋĀÁÂÃÄÅÆĮČÉĘËĖÍÎÏÐŅŌÓÔÕÖŨØŲÚÛÜÝÞßāáâãäåæįčéęëėíîïðņōóôõöũøųúûüýþĸ',
  ],
  [
    'iso-8859-13',
    '\u00a0”¢£¤„¦§Ø©Ŗ«¬\u00ad®Æ°±²³“µ¶·ø¹ŗ»¼½¾æĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽßąįāćäåęēčéźėģķīļšńņóōõö÷ųłśūüżž’',
  ],
  [
    'iso-8859-14',
    '\u00a0Ḃḃ£ĊċḊ§Ẁ©ẂḋỲ\u00ad®ŸḞḟĠġṀṁ¶ṖẁṗẃṠỳẄẅṡÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏŴÑÒÓÔÕÖṪØÙÚÛÜÝŶßàáâãäåæçèéêëìíîïŵñòóôõöṫøùúûüýŷÿ',
  ],
  [
    'iso-8859-15',
    '\u00a0¡¢£€¥Š§š©ª«¬\u00ad®¯°±²³Žµ¶·ž¹º»ŒœŸ¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ',
  ],
  [
    'iso-8859-16',
    '\u00a0ĄąŁ€„Š§š©Ș«Ź\u00adźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ',
  ],
  ['koi8-r', '═║╒ё╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡Ё╢╣╤╥╦╧╨╩╪╫╬©юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ'],
  [
    'macintosh',
    '†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ',
  ],
  [
    'windows-1250',
    '\u00a0ˇ˘Ł¤Ą¦§¨©Ş«¬\u00ad®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙',
  ],
  [
    'windows-1251',
    '\u00a0ЎўЈ¤Ґ¦§Ё©Є«¬\u00ad®Ї°±Ііґµ¶·ё№є»јЅѕїАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя',
  ],
  [
    'windows-1252',
    '\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ',
  ],
  [
    'windows-1254',
    '\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ',
  ],
  [
    'windows-1256',
    '\u00a0\u060c¢£¤¥¦§¨©\u06be«¬\u00ad®¯°±²³´µ¶·¸¹\u061b»¼½¾\u061f\u06c1\u0621\u0622\u0623\u0624\u0625\u0626\u0627\u0628\u0629\u062a\u062b\u062c\u062d\u062e\u062f\u0630\u0631\u0632\u0633\u0634\u0635\u0636×\u0637\u0638\u0639\u063a\u0640\u0641\u0642\u0643à\u0644â\u0645\u0646\u0647\u0648çèéêë\u0649\u064aîï\u064b\u064c\u064d\u064eô\u064f\u0650÷\u0651ù\u0652ûü\u200e\u200f\u06d2',
  ],
];

describe('a single-byte encoding', () => {
  it.each(upperHalves)('%s decodes its own letters', (encoding, characters) => {
    const upper = Uint8Array.from({ length: 96 }, (_, at) => at + 0xa0);
    expect(read(upper, 'text', encoding)).toEqual([encoding, characters]);
  });
});

describe('the encoding of a page', () => {
  it('comes from its byte order mark before anything else', () => {
    expect(read(bytes('\xef\xbb\xbfgr\xc3\xbc\xc3\x9fe'), 'html', 'iso-8859-1')).toEqual(['utf-8', 'grüße']);
    expect(read(bytes('\xff\xfeg\0r\0\xfc\0'), 'html', 'utf-8')).toEqual(['utf-16le', 'grü']);
    expect(read(bytes('\xfe\xff\0g\0r\0\xfc'), 'text', null)).toEqual(['utf-16be', 'grü']);
    expect(read(bytes('\xef\xbb\xbf{"a":1}'), 'json', null)).toEqual(['utf-8', '{"a":1}']);
  });

  it('comes from the header before the page', () => {
    const page = bytes('<meta charset=koi8-r>\xe4');
    expect(read(page, 'html', 'windows-1251')).toEqual(['windows-1251', '<meta charset=koi8-r>д']);
    expect(read(page, 'html', 'unheard-of')[0]).toBe('koi8-r');
    expect(read(page)).toEqual(['koi8-r', '<meta charset=koi8-r>Д']);
  });

  it('is guessed where none is declared: UTF-8 if it decodes, else windows-1252', () => {
    expect(read(bytes('caf\xc3\xa9'))).toEqual(['utf-8', 'café']);
    expect(read(bytes('caf\xe9 \x80'))).toEqual(['windows-1252', 'café €']);
    expect(read(bytes('caf\xe9'), 'text')).toEqual(['windows-1252', 'café']);
    expect(read(new Uint8Array(0))).toEqual(['utf-8', '']);
  });

  it('is UTF-8 for JSON, and for XML without a declaration', () => {
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
  ])('decodes %s', (charset, body, text) => {
    expect(read(Uint8Array.from(body), 'text', charset)[1]).toBe(text);
  });

  it('passes UTF-8 on without a copy', () => {
    const body = bytes('<p>caf\xc3\xa9');
    const text = toUtf8(body, 'html', 'utf-8');
    expect(text.ok && text.body === body).toBe(true);
  });

  it.each(['iso-2022-kr', 'HZ-GB-2312', 'iso-2022-cn', 'replacement', ' csiso2022kr '])('rejects %s', (label) => {
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
  ])('of %j gives %s', (page, encoding) => {
    expect(prescan(bytes(page))).toBe(encoding);
  });
});
