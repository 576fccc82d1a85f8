/** For specs: what a receiver would make of a text, by dialect: whatever is not shown as it stands is named. */

export const dialectNames = [
  'plain',
  'plainWithMentions',
  'slack',
  'commonMark',
  'discord',
  'html',
  'googleCard',
  'zulip',
  'fence',
] as const;
export type Dialect = (typeof dialectNames)[number];

const mention = /@[\p{L}\p{N}_*]/u;

/** Control characters, escapes of terminals and marks that turn the direction of text. */
function unseen(text: string): string[] {
  return /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text) ? ['control characters'] : [];
}

/** A cut in the middle of a character. */
function torn(text: string): string[] {
  return text.isWellFormed() ? [] : ['half a character'];
}

const found = (text: string, pattern: RegExp, what: string): string[] => {
  const match = pattern.exec(text);
  return match === null ? [] : [`${what}: ${text.slice(Math.max(0, match.index - 20), match.index + 20)}`];
};

function plain(text: string): string[] {
  return [...unseen(text), ...torn(text), ...(/^[\s\u200b-\u200f\u2060\ufeff]*$/.test(text) ? ['nothing'] : [])];
}

function entitiesAlone(text: string, names: RegExp): string[] {
  const rest = text.replace(names, '');
  return [...found(rest, /[<>]/, 'a tag'), ...found(rest, /&/, 'half an entity')];
}

function slack(text: string): string[] {
  return [...plain(text), ...entitiesAlone(text, /&(?:amp|lt|gt);/g)];
}

function html(text: string): string[] {
  return [...plain(text), ...entitiesAlone(text, /&(?:amp|lt|gt|quot|#39);/g)];
}

function commonMark(text: string): string[] {
  const rest = text.replace(/\\[\\`*_{}[\]()#+\-.!|~>$^=<:@]/g, '');
  return [
    ...plain(text),
    ...found(text, mention, 'a mention'),
    ...found(rest, /[*_`~|#>[\]]/, 'markup'),
    ...found(rest, /<[^\u200b]/, 'a tag'),
    ...found(text, /:\/\//, 'a link'),
    ...found(text, /(?<!\\)(?:\\\\)*\\…?$/, 'half an escape'),
  ];
}

/** Every sign that means something has a backslash, those of mentions and addresses too. */
function discord(text: string): string[] {
  const rest = text.replace(/\\[\\*_~`|<>#[\]()@:-]/g, '');
  return [
    ...plain(text),
    ...found(rest, mention, 'a mention'),
    ...found(rest, /[*_`~|#>[\]<]/, 'markup'),
    ...found(rest, /:\/\//, 'a link'),
    ...found(rest, /\\…?$/, 'half an escape'),
  ];
}

/** Mentions are broken up; there is no markup. */
function plainWithMentions(text: string): string[] {
  return [...plain(text), ...found(text, mention, 'a mention')];
}

/** One block whose fence no line inside closes, and text around it that is ours. */
function fence(text: string): string[] {
  const blocks = [...text.matchAll(/^(`{3,})text\n([^]*?)\n\1$/gm)];
  const outside = text.replace(/^(`{3,})text\n[^]*?\n\1$/gm, '');
  const inside = blocks.flatMap(([, mark = '', body = '']) => found(body, new RegExp(mark), 'a fence'));
  return [
    ...unseen(text),
    ...torn(text),
    ...inside,
    ...found(outside, /```/, 'an open fence'),
    ...found(outside, mention, 'a mention'),
  ];
}

export const dialects: Readonly<Record<Dialect, (text: string) => string[]>> = {
  plain,
  plainWithMentions,
  slack,
  commonMark,
  discord,
  html,
  googleCard: html,
  zulip: fence,
  fence,
};

/** Everything that means something to some receiver. */
export const hostileText = [
  '@everyone @here @channel @all @room <!channel> <!here|x> <@U123> <users/all> <@all> @**all** @*staff* @_**all**',
  '<at user_id="all">all</at> <at id=all></at> **b** *b* __u__ _i_ ~s~ ~~s~~ `c` ||spoiler||',
  '[x](https://evil.example) <https://evil.example|x> ![x](https://evil.example/x.png) https://evil.example/',
  '<b>bold</b> <script>alert(1)</script> &amp; &lt; &#39; </p>]]> <a href="https://evil.example">x</a>',
  '```\nfence\n```\n````\n~~~~ #1 octo/repo#1 closes #2 !{x} {{ task.name }} ${x} $(id) %s %0a \\ \\* \\`',
  '# head\n> quote\n- list\n1. one\n| a | b |\n:warning: \u202e rtl \u2066 \u001b[31m red \u0000 \u0007 \u009b \r\nBcc: eve@example.com\r\n.\r\n',
  '"quote" \'single\' {"json": true} 😀👨‍👩‍👧 é \ud800 \u200b * _ ~ + -',
].join(' ');
