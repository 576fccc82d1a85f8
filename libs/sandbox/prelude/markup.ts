/** Nodes written as markup, after HTML's serialisation. */
import { partsOf } from './names.js';
import { attributeMarkup } from './attribute-values.js';
import { nameText } from './name-table.js';
import {
  cdataKind,
  commentKind,
  dataOf,
  doctypeKind,
  doctypeParts,
  elementKind,
  firstChild,
  instructionKind,
  kind,
  nextSibling,
  parentOf,
  tagOf,
  templateContent,
  textKind,
} from './tree.js';

const voidTags = ' area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr ';
const rawTags = ' style script xmp iframe noembed noframes plaintext noscript ';

const marks: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\u00a0': '&nbsp;',
};
const replaceMark = (mark: string): string => marks[mark] ?? mark;

function escapeText(text: string): string {
  return /[&<>\u00a0]/.test(text) ? text.replace(/[&<>\u00a0]/g, replaceMark) : text;
}

function escapeValue(text: string): string {
  return /[&"<>\u00a0]/.test(text) ? text.replace(/[&"<>\u00a0]/g, replaceMark) : text;
}

function write(node: number, parts: string[]): void {
  switch (kind(node)) {
    case elementKind: {
      const name = nameText(tagOf(node));
      const written = name.includes('\n') || name.includes(' ') ? partsOf(node).qualified : name;
      parts.push(`<${written}${attributeMarkup(node, escapeValue)}>`);
      if (voidTags.includes(` ${name} `)) return;
      writeChildren(node, parts);
      parts.push(`</${written}>`);
      return;
    }
    case textKind: {
      const parent = parentOf(node);
      const isRaw = parent >= 0 && kind(parent) === elementKind && rawTags.includes(` ${nameText(tagOf(parent))} `);
      parts.push(isRaw ? dataOf(node) : escapeText(dataOf(node)));
      return;
    }
    case cdataKind:
      parts.push(escapeText(dataOf(node)));
      return;
    case instructionKind:
      parts.push('<?', nameText(tagOf(node)), ' ', dataOf(node), '>');
      return;
    case commentKind:
      parts.push('<!--', dataOf(node), '-->');
      return;
    case doctypeKind:
      parts.push('<!DOCTYPE ', doctypeParts(node)[0], '>');
      return;
    default:
      writeChildren(node, parts);
  }
}

function writeChildren(node: number, parts: string[]): void {
  const content = kind(node) === elementKind && nameText(tagOf(node)) === 'template' ? templateContent(node) : -1;
  const holder = content >= 0 ? content : node;
  for (let child = firstChild(holder); child >= 0; child = nextSibling(child)) write(child, parts);
}

export function innerMarkup(node: number): string {
  const parts: string[] = [];
  writeChildren(node, parts);
  return parts.join('');
}

export function outerMarkup(node: number): string {
  const parts: string[] = [];
  write(node, parts);
  return parts.join('');
}
