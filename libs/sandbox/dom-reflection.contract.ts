/** Attributes as the standard has them as properties: known words, limits, defaults, and what setting them writes. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { asking, pageOf } from './kit.contract.js';
import type { Sandbox } from './sandbox.js';

type Row = readonly [rule: string, code: string, value: unknown];

/** `made(tag, attribute, value)` is an element with one attribute; `set(element, property, value)` says what is written then. */
const helpers = `
  const made = (tag, attribute, value) => {
    const element = document.createElement(tag);
    if (value !== undefined) element.setAttribute(attribute, value);
    return element;
  };
  const read = (tag, attribute, property, ...values) => values.map((value) => made(tag, attribute, value)[property]);
  const set = (tag, attribute, property, ...values) => values.map((value) => {
    const element = made(tag);
    try { element[property] = value; } catch (error) { return error.name; }
    return element.getAttribute(attribute);
  });`;

const words: readonly Row[] = [
  ['a known word reads in lower case', `read('i', 'dir', 'dir', 'RTL', 'Ltr', 'auto')`, ['rtl', 'ltr', 'auto']],
  ['an unknown word and a missing attribute read as nothing', `read('i', 'dir', 'dir', 'up', undefined)`, ['', '']],
  [
    'only letters of ASCII are the same in both cases',
    `read('link', 'as', 'as', 'TRAC\\u212a', 'tracK')`,
    ['', 'track'],
  ],
  ['a word that is set is written as it is', `set('i', 'dir', 'dir', 'RTL', 'up', null)`, ['RTL', 'up', 'null']],
  [
    'what a missing attribute stands for need not be what an unknown word stands for',
    `[...read('track', 'kind', 'kind', undefined, 'x', 'Captions'), ...read('input', 'formmethod', 'formMethod', undefined, 'x')]`,
    ['subtitles', 'metadata', 'captions', '', 'get'],
  ],
  [
    'forms and controls fall back to their first way',
    `[...read('form', 'method', 'method', undefined, 'x', 'POST', 'dialog'), ...read('form', 'enctype', 'encoding', undefined, 'TEXT/plain'),
      ...read('button', 'type', 'type', undefined, 'x', 'Reset'), ...read('input', 'type', 'type', undefined, 'x', 'EMAIL')]`,
    ['get', 'get', 'post', 'dialog', 'application/x-www-form-urlencoded', 'text/plain']
      .concat(['submit', 'submit', 'reset'])
      .concat(['text', 'text', 'email']),
  ],
  [
    'several words may stand for the same',
    `[...read('video', 'preload', 'preload', '', 'auto', 'none'), ...read('i', 'autocapitalize', 'autocapitalize', 'off', 'on', 'x', '', undefined)]`,
    ['auto', 'auto', 'none', 'none', 'sentences', 'sentences', '', ''],
  ],
  [
    'null stands for a missing attribute where there is no other word for it, and takes it away',
    `[...read('img', 'crossorigin', 'crossOrigin', undefined, '', 'x', 'Use-Credentials'), ...read('i', 'popover', 'popover', undefined, '', 'x'),
      ...set('img', 'crossorigin', 'crossOrigin', null, 'x')]`,
    [null, 'anonymous', 'anonymous', 'use-credentials', null, 'auto', 'manual', null, 'x'],
  ],
  [
    'a referrer policy that is none is nothing',
    `['a', 'area', 'img', 'iframe', 'link', 'script'].map((tag) => read(tag, 'referrerpolicy', 'referrerPolicy', 'x', 'ORIGIN').join())`,
    [',origin', ',origin', ',origin', ',origin', ',origin', ',origin'],
  ],
  [
    'what a control is filled in with reads in lower case, and as nothing where it makes no sense',
    `[...read('input', 'autocomplete', 'autocomplete', ' ON\\t', 'Section-A  shipping WORK email', 'username webauthn', 'home name', 'x', undefined),
      (() => { const hidden = made('input', 'autocomplete', 'off'); hidden.type = 'hidden'; return hidden.autocomplete; })(),
      ...set('select', 'autocomplete', 'autocomplete', 'X')]`,
    ['on', 'section-a shipping work email', 'username webauthn', '', '', '', '', 'X'],
  ],
];

const numbers: readonly Row[] = [
  [
    'a whole number ends where its digits do, and may have white space before it',
    `read('li', 'value', 'value', '7px', ' \\n+7.9', '-7e3', '\\u00a07', 'x', '', undefined, '-0')`,
    [7, 7, -7, 0, 0, 0, 0, 0],
  ],
  [
    'a whole number beyond 32 bits counts as none',
    `[...read('ol', 'start', 'start', '2147483647', '2147483648', '-2147483648', '-2147483649'), ...set('ol', 'start', 'start', 2147483648, 1.9, 'x')]`,
    [2147483647, 1, -2147483648, 1, '-2147483648', '1', '0'],
  ],
  [
    'a length that is negative counts as none and cannot be set',
    `[...read('input', 'maxlength', 'maxLength', '5', '-5', 'x', undefined), ...set('textarea', 'minlength', 'minLength', 5, -5)]`,
    [5, -1, -1, -1, '5', 'IndexSizeError'],
  ],
  [
    'a measure is 0 and more',
    `[...read('canvas', 'width', 'width', '50%', '-1', '2147483648', undefined), ...set('canvas', 'height', 'height', 20, -1)]`,
    [50, 300, 300, 300, '20', '150'],
  ],
  [
    'a size of 0 counts as none and cannot be set',
    `[...read('input', 'size', 'size', '0', '3', undefined), ...set('input', 'size', 'size', 3, 0, 2147483648)]`,
    [20, 3, 20, '3', 'IndexSizeError', '20'],
  ],
  [
    'rows and columns of a text field fall back where they are 0, set ones too',
    `[...read('textarea', 'cols', 'cols', '0', '9'), ...set('textarea', 'rows', 'rows', 0, 9)]`,
    [20, 9, '2', '9'],
  ],
  [
    'spans come to the next that may be',
    `[...read('td', 'colspan', 'colSpan', '0', '1001', '-1', 'x', '7'), ...read('td', 'rowspan', 'rowSpan', '0', '65535', undefined),
      ...read('col', 'span', 'span', '99999999999'), ...set('td', 'colspan', 'colSpan', 1001)]`,
    [1, 1000, 1, 1, 7, 0, 65534, 1, 1000, '1001'],
  ],
  [
    'fractions end where the number does, and must be finite to be set',
    `[...read('meter', 'min', 'min', '.5x', ' -1e1', '1.', 'Infinity', '\\u00a01'), ...set('meter', 'min', 'min', 1.5, NaN)]`,
    [0.5, -10, 1, 0, 0, '1.5', 'TypeError'],
  ],
  [
    'the most of a progress is above 0',
    `[...read('progress', 'max', 'max', '0', '-2', '2.5', undefined), ...set('progress', 'max', 'max', 2.5, 0)]`,
    [1, 1, 2.5, 1, '2.5', null],
  ],
  [
    'a progress and a meter are within their limits',
    `(() => { const [progress, meter] = [made('progress', 'max', '4'), made('meter', 'max', '10')];
      const before = progress.position; progress.value = 9; meter.value = 99; meter.low = -3; meter.high = -4;
      return [before, progress.value, progress.position, meter.value, meter.low, meter.high, meter.optimum, meter.getAttribute('high')]; })()`,
    [-1, 4, 1, 10, 0, 0, 5, '-4'],
  ],
];

const texts: readonly Row[] = [
  [
    'an old colour or width that is set to null is empty, and no other text',
    `[...set('body', 'bgcolor', 'bgColor', null, undefined), ...set('table', 'cellpadding', 'cellPadding', null), ...set('table', 'width', 'width', null)]`,
    ['', 'undefined', '', 'null'],
  ],
  [
    'an address is made absolute, and stays as written where it is none',
    `[...read('img', 'longdesc', 'longDesc', 'x', 'http://[', undefined), ...read('object', 'codebase', 'codeBase', '/y')]`,
    ['https://shop.example/shop/x', 'http://[', '', 'https://shop.example/y'],
  ],
  [
    'a form without an action goes to the page itself, and so do its buttons',
    `[...read('form', 'action', 'action', '', undefined), ...read('button', 'formaction', 'formAction', undefined, 'x')]`,
    [...Array.from({ length: 3 }, () => 'https://shop.example/d/index.html#part'), 'https://shop.example/shop/x'],
  ],
  [
    'the base is relative to the page',
    `[document.querySelector('base').href, ...read('base', 'href', 'href', undefined)]`,
    ['https://shop.example/shop/', 'https://shop.example/d/index.html'],
  ],
  [
    'lists of tokens are written by their text',
    `[...set('iframe', 'sandbox', 'sandbox', 'a b'), ...set('output', 'for', 'htmlFor', 'a b'), ...read('link', 'sizes', 'sizes', 'a b')[0],
      ...set('a', 'rel', 'relList', 'x y'), made('form', 'rel', 'x y').relList.length]`,
    ['a b', 'a b', 'a', 'b', 'x y', 2],
  ],
  [
    'old elements have their own properties',
    `[made('frame', 'noresize', '').noResize, made('frame', 'longdesc', 'x').longDesc, made('frameset', 'cols', '1,2').cols, made('marquee').scrollAmount,
      made('marquee', 'direction', 'UP').direction, made('td', 'char', '.').ch, made('col', 'charoff', '2').chOff, made('area', 'nohref', '').noHref,
      made('object', 'hspace', '3').hspace, made('applet') instanceof HTMLUnknownElement, made('frameset') instanceof HTMLFrameSetElement]`,
    [true, 'https://shop.example/shop/x', '1,2', 6, 'up', '.', '2', true, 3, true, true],
  ],
  [
    'audio and video have the attributes of media',
    `['audio', 'video'].map((tag) => [made(tag, 'muted', '').defaultMuted, made(tag, 'src', 'x').src, made(tag) instanceof HTMLMediaElement].join())`,
    ['true,https://shop.example/shop/x,true', 'true,https://shop.example/shop/x,true'],
  ],
  [
    'the document shows its direction and the colours of its body',
    `(() => { document.dir = 'RTL'; document.bgColor = 'red'; document.vlinkColor = null; document.linkColor = 'blue';
      return [document.dir, document.documentElement.getAttribute('dir'), document.body.bgColor, document.body.getAttribute('vlink'), document.linkColor,
        document.fgColor, new Document().dir, new Document().bgColor]; })()`,
    ['rtl', 'RTL', 'red', '', 'blue', '', '', ''],
  ],
  [
    'a body or a frameset takes the place of the body, and nothing else does',
    `(() => { const names = [null, made('div'), 'body'].map((body) => { try { document.body = body; } catch (error) { return error.name; } });
      const frames = made('frameset'); document.body = frames; return [...names, document.body === frames, document.querySelector('body')]; })()`,
    ['HierarchyRequestError', 'HierarchyRequestError', 'TypeError', true, null],
  ],
  [
    'parts of a table can be replaced, by their like alone',
    `(() => { const table = made('table'); table.innerHTML = '<caption>a</caption><colgroup></colgroup><tbody></tbody>';
      const parts = (name) => { try { table[name] = made(name.toLowerCase()); } catch (error) { return error.name; } };
      parts('caption'); parts('tHead'); parts('tFoot'); parts('tHead');
      const wrong = [['caption', 'b'], ['tHead', 'tbody'], ['tFoot', 'b']].map(([name, tag]) => { try { table[name] = made(tag); } catch (error) { return error.name; } });
      const names = [...table.children].map((child) => child.localName).join(); table.caption = null; table.tFoot = null;
      return [...wrong, names, [...table.children].map((child) => child.localName).join()]; })()`,
    ['TypeError', 'HierarchyRequestError', 'TypeError', 'caption,colgroup,thead,tbody,tfoot', 'colgroup,thead,tbody'],
  ],
];

const states: readonly Row[] = [
  [
    'hidden is true, false or until-found',
    `[...read('p', 'hidden', 'hidden', '', 'x', 'Until-Found', undefined), ...set('p', 'hidden', 'hidden', true, 'until-FOUND', 'x', '', null, 0)]`,
    [true, true, 'until-found', false, '', 'until-found', '', null, null, null],
  ],
  [
    'translation and spelling are as around an element says, and on where nothing does',
    `(() => { const [outer, inner] = [made('div', 'translate', 'NO'), made('b')]; outer.spellcheck = false; outer.append(inner);
      const before = [inner.translate, inner.spellcheck, made('b').translate, made('b').spellcheck];
      inner.translate = true; inner.setAttribute('spellcheck', ''); outer.setAttribute('translate', 'x');
      return [...before, inner.translate, inner.getAttribute('translate'), inner.spellcheck, outer.getAttribute('spellcheck'), outer.translate]; })()`,
    [false, false, true, true, true, 'yes', true, 'false', true],
  ],
  [
    'images and links can be dragged unless they say otherwise',
    `[made('img').draggable, made('a').draggable, made('a', 'href', 'x').draggable, made('img', 'draggable', 'FALSE').draggable, made('b', 'draggable', 'true').draggable,
      made('b', 'draggable', '').draggable, ...set('b', 'draggable', 'draggable', 1)]`,
    [true, false, true, false, true, false, 'true'],
  ],
  [
    'an element is editable as it says or as around it says, in one of three words',
    `[...read('p', 'contenteditable', 'contentEditable', '', 'FALSE', 'plaintext-only', 'x', undefined),
      ...set('p', 'contenteditable', 'contentEditable', 'TRUE', 'inherit', 'x'),
      (() => { const outer = made('div', 'contenteditable', ''), inner = made('b', 'contenteditable', 'x'); outer.append(inner); return inner.isContentEditable; })()]`,
    ['true', 'false', 'plaintext-only', 'inherit', 'inherit', 'true', null, 'SyntaxError', true],
  ],
  [
    'what a person can reach by the keyboard has the tab index 0, all else -1',
    `[...['a', 'button', 'select', 'summary', 'b'].map((tag) => made(tag).tabIndex), ...read('b', 'tabindex', 'tabIndex', '3x', 'x', '-1'),
      (() => { const details = made('details'); details.append(made('summary')); return details.firstChild.tabIndex; })(), ...set('b', 'tabindex', 'tabIndex', 2, '7.5')]`,
    [0, 0, 0, -1, -1, 3, -1, -1, 0, '2', '7'],
  ],
];

export function describeReflection(name: string, create: () => Sandbox): void {
  describe(`${name} with attributes as properties`, () => {
    let sandbox: Sandbox;
    beforeAll(() => {
      sandbox = create();
    });
    afterAll(() => sandbox.close());

    const { valueOf } = asking(() => sandbox);

    it.each([...words, ...numbers, ...texts, ...states])('%s', async (_rule, code, value) => {
      expect(await valueOf(`(() => { ${helpers} return ${code}; })()`)).toEqual(value);
    });

    it('reads markup of the page like elements made by code', async () => {
      const page = pageOf(
        '<!doctype html><body><i dir=RTL></i><table><tr><td colspan=0 rowspan=070000 align=Left></table>',
      );
      const code = `[document.querySelector('i').dir, document.querySelector('td').colSpan, document.querySelector('td').rowSpan, document.querySelector('td').align]`;
      expect(await valueOf(code, { page })).toEqual(['rtl', 1, 65534, 'Left']);
    });
  });
}
