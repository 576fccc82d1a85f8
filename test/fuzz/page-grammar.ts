/** Pages: well made, badly made, and made to hurt. Each is bytes. */
import fc from 'fast-check';

const tags = fc.constantFrom(
  'div',
  'p',
  'a',
  'b',
  'i',
  'li',
  'ul',
  'table',
  'tr',
  'td',
  'tbody',
  'caption',
  'select',
  'option',
  'optgroup',
  'form',
  'input',
  'svg',
  'path',
  'foreignObject',
  'math',
  'mi',
  'annotation-xml',
  'template',
  'script',
  'style',
  'textarea',
  'title',
  'noscript',
  'plaintext',
  'frameset',
  'body',
  'html',
  'head',
  'button',
  'nobr',
  'iframe',
  'dd',
  'h1',
  'x-y',
  'ruby',
  'rt',
);
const attributes = fc.oneof(
  fc.constantFrom(
    '',
    ' class="a b"',
    ' id=b',
    ' class=a id="b"',
    ' data-x',
    " href='/x?y=1#z'",
    ' checked',
    ' hidden',
    ' style="display:none"',
    ' xlink:href="#"',
    ' a=1 a=2',
    ' "',
    ' =',
    ' <',
    ' value="&amp;&lt;&nope;&#0;&#x110000;"',
  ),
  fc.string({ maxLength: 10 }).map((text) => ` title="${text}"`),
);
const texts = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom(
    '1.299,00 €',
    '$1,299.00',
    '\0',
    '\ufffd',
    '\u2028',
    '&copy',
    '&notit;',
    '<!--',
    '-->',
    '<![CDATA[x]]>',
    '<?pi?>',
    '<!doctype html>',
    '</',
    '<',
    '\r\n',
    '\uFEFF',
    '😀',
    '\u202e',
  ),
);

const { content } = fc.letrec<{ content: string; element: string }>((tie) => ({
  content: fc.oneof(
    { depthSize: 'small' },
    texts,
    tie('element'),
    fc.array(tie('element'), { maxLength: 4 }).map((parts) => parts.join('')),
  ),
  element: fc
    .tuple(tags, attributes, tie('content'), tags, fc.integer({ min: 0, max: 9 }))
    .map(([tag, with_, inner, other, dice]) => {
      if (dice === 0) return `<${tag}${with_}>${inner}`;
      if (dice === 1) return `<${tag}${with_}>${inner}</${other}>`;
      if (dice === 2) return `<${tag}${with_}/>${inner}`;
      return `<${tag}${with_}>${inner}</${tag}>`;
    }),
}));

const wholes = fc
  .array(content, { maxLength: 6 })
  .map((parts) => `<!doctype html><title>x</title><body class="page">${parts.join('\n')}`);

const bombs = fc.constantFrom(
  () => '<div>'.repeat(20_000),
  () => '<p>'.repeat(30_000),
  () => `${'<b><i>'.repeat(1_000)}${'</b>'.repeat(1_000)}<p>`,
  () => '<a><b><i><u><p>'.repeat(200),
  () => `<p ${Array.from({ length: 5_000 }, (_, at) => `a${at}=1`).join(' ')}>`,
  () => '<'.repeat(100_000),
  () => `<table>${'x<tr>'.repeat(5_000)}`,
  () => '\0'.repeat(10_000),
  () => '<svg><foreignObject>'.repeat(300),
  () => '<template>'.repeat(400),
  () => `<select>${'<option>x'.repeat(10_000)}`,
  () => '&'.repeat(50_000),
  () => `<!--${'-'.repeat(100_000)}`,
  () => `<p class="${Array.from({ length: 5_000 }, (_, at) => `c${at}`).join(' ')}">`,
  () => Array.from({ length: 3_000 }, (_, at) => `<i id=x${at} class=c${at}>`).join('</i>'),
);

const encoder = new TextEncoder();

export interface Page {
  readonly contentKind: 'html' | 'xml' | 'json' | 'text';
  readonly body: Uint8Array;
}

export const page: fc.Arbitrary<Page> = fc
  .tuple(
    fc.oneof(
      { weight: 10, arbitrary: wholes.map((text) => encoder.encode(text)) },
      { weight: 4, arbitrary: content.map((text) => encoder.encode(text)) },
      { weight: 1, arbitrary: bombs.map((make) => encoder.encode(make())) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
      { weight: 1, arbitrary: fc.json().map((text) => encoder.encode(text)) },
    ),
    fc.constantFrom<Page['contentKind']>('html', 'html', 'html', 'html', 'xml', 'json', 'text'),
  )
  .map(([body, contentKind]) => ({ body, contentKind }));
