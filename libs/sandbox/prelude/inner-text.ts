/** `innerText`: the text as it would be read on the page, with lines where blocks and breaks make them. No style sheets. */
import { optionsOf } from './element-state.js';
import { getAttribute } from './attribute-values.js';
import { nameText } from './name-table.js';
import {
  dataOf,
  elementKind,
  firstChild,
  following,
  followingSubtree,
  isElement,
  isTextual,
  kind,
  nextSibling,
  parentElementOf,
  tagOf,
  textOf,
} from './tree.js';
import { nextElement, rootOf } from './tree-walks.js';

const hiddenTags =
  ' head script style template noscript title meta link base area datalist param rp source track noembed noframes colgroup col ';
const replacedTags = ' img video audio canvas iframe object embed input textarea select progress meter ';
const blockTags =
  ' html body address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol optgroup option p plaintext pre search section summary table ul xmp caption listing ';
const keptTags = ' pre textarea xmp listing plaintext ';

function isHidden(node: number, tag: string): boolean {
  if (hiddenTags.includes(` ${tag} `)) return true;
  if (getAttribute(node, 'hidden') !== null) return true;
  const style = getAttribute(node, 'style');
  return style !== null && /(?:^|;)\s*display\s*:\s*none/i.test(style);
}

/** Text so far, with blanks collapsed and line breaks counted until something follows them. */
class Writer {
  readonly #parts: string[] = [];
  #breaks = 0;
  #hasBlank = false;
  /** At the start of a line or cell a blank is left out. */
  #isAtStart = true;

  get text(): string {
    return this.#parts.join('');
  }

  requireBreaks(count: number): void {
    this.#hasBlank = false;
    this.#isAtStart = true;
    if (this.#parts.length > 0 && count > this.#breaks) this.#breaks = count;
  }

  #flush(isVisible: boolean): void {
    if (this.#breaks > 0) this.#parts.push('\n'.repeat(this.#breaks));
    this.#breaks = 0;
    if (this.#hasBlank && isVisible && !this.#isAtStart) this.#parts.push(' ');
    this.#hasBlank = false;
  }

  /** Something on the line that has no text, as an image has not: blanks next to it stay. */
  object(): void {
    if (this.#breaks === 0 || (this.#hasBlank && !this.#isAtStart)) this.#flush(true);
    this.#isAtStart = false;
  }

  collapse(data: string): void {
    const collapsed = data.replace(/[\t\n\f\r ]+/g, ' ');
    if (collapsed === '') return;
    if (collapsed === ' ') {
      this.#hasBlank = true;
      return;
    }
    const isAfterBlank = collapsed.startsWith(' ');
    if (isAfterBlank) this.#hasBlank = true;
    this.#flush(true);
    this.#parts.push(trimEndBlank(isAfterBlank ? collapsed.slice(1) : collapsed));
    this.#isAtStart = false;
    this.#hasBlank = collapsed.endsWith(' ');
  }

  keep(data: string): void {
    this.#flush(true);
    this.#parts.push(data);
    this.#isAtStart = data.endsWith('\n');
  }

  #mark(mark: string): void {
    this.#flush(false);
    this.#parts.push(mark);
    this.#isAtStart = true;
  }

  lineBreak(): void {
    this.#mark('\n');
  }

  /** Below a row that another one follows. */
  endRow(): void {
    this.#mark('\n');
  }

  tab(): void {
    this.#mark('\t');
  }
}

function trimEndBlank(text: string): string {
  return text.endsWith(' ') ? text.slice(0, -1) : text;
}

/** The row that closes the table in which a row stands. */
function isLastRow(row: number): boolean {
  let table = parentElementOf(row);
  while (table >= 0 && nameText(tagOf(table)) !== 'table') table = parentElementOf(table);
  if (table < 0) return true;
  for (let next = followingSubtree(row, table); next >= 0; next = following(next, table)) {
    if (isElement(next) && nameText(tagOf(next)) === 'tr') return false;
  }
  return true;
}

function collectOptions(select: number, writer: Writer): void {
  for (const option of optionsOf(select)) {
    writer.requireBreaks(1);
    writer.collapse(textOf(option));
    writer.requireBreaks(1);
  }
  writer.object();
}

function collectChildren(node: number, tag: string, writer: Writer, isKept: boolean): void {
  const isClosed = tag === 'details' && getAttribute(node, 'open') === null;
  for (let child = firstChild(node); child >= 0; child = nextSibling(child)) {
    // What a closed one shows is its first summary.
    if (!isClosed) collect(child, writer, isKept);
    else if (isElement(child) && nameText(tagOf(child)) === 'summary') return collect(child, writer, isKept);
  }
}

function collect(node: number, writer: Writer, isKept: boolean): void {
  const nodeKind = kind(node);
  if (isTextual(nodeKind)) {
    if (isKept) writer.keep(dataOf(node));
    else writer.collapse(dataOf(node));
    return;
  }
  if (nodeKind !== elementKind) return;
  const tag = nameText(tagOf(node));
  if (isHidden(node, tag)) return;
  if (tag === 'br') return writer.lineBreak();
  if (tag === 'select') return collectOptions(node, writer);
  if (replacedTags.includes(` ${tag} `)) return writer.object();
  const breaks = tag === 'p' ? 2 : blockTags.includes(` ${tag} `) ? 1 : 0;
  if (breaks > 0) writer.requireBreaks(breaks);
  collectChildren(node, tag, writer, isKept || keptTags.includes(` ${tag} `));
  if ((tag === 'td' || tag === 'th') && nextElement(node) >= 0) writer.tab();
  else if (tag === 'tr' && !isLastRow(node)) writer.endRow();
  if (breaks > 0) writer.requireBreaks(breaks);
}

export function innerText(node: number): string {
  const tag = nameText(tagOf(node));
  if (kind(rootOf(node)) !== 9 || isHidden(node, tag)) return textOf(node);
  const writer = new Writer();
  if (tag === 'select') collectOptions(node, writer);
  else if (!replacedTags.includes(` ${tag} `)) collectChildren(node, tag, writer, keptTags.includes(` ${tag} `));
  return writer.text;
}
