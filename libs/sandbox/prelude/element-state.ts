/** What an element is or can: disabled, chosen, editable, empty, in which language. */
import { NodeMap } from './node-map.js';
import { getAttribute } from './attribute-values.js';
import { nameText } from './name-table.js';
import {
  childElementsOf,
  dataOf,
  elementKind,
  firstChild,
  following,
  isElement,
  kind,
  nextSibling,
  parentElementOf,
  tagOf,
  textKind,
  textOf,
} from './tree.js';

export function isTag(node: number, tags: string): boolean {
  return tags.includes(` ${nameText(tagOf(node))} `);
}

export const canBeDisabled = ' button input select textarea option optgroup fieldset ';

export function isDisabled(node: number): boolean {
  if (!isTag(node, canBeDisabled)) return false;
  if (getAttribute(node, 'disabled') !== null) return true;
  const parent = parentElementOf(node);
  if (isTag(node, ' option ')) {
    const holder = parent >= 0 && isTag(parent, ' optgroup ') ? parentElementOf(parent) : parent;
    return [parent, holder].some(
      (up) => up >= 0 && isTag(up, ' optgroup select ') && getAttribute(up, 'disabled') !== null,
    );
  }
  if (isTag(node, ' optgroup ')) return false;
  for (let child = node, up = parent; up >= 0; child = up, up = parentElementOf(up)) {
    if (!isTag(up, ' fieldset ') || getAttribute(up, 'disabled') === null) continue;
    const firstLegend = childElementsOf(up).find((each) => isTag(each, ' legend '));
    if (firstLegend !== child) return true;
  }
  return false;
}

/** What code has set; the attributes stay as the page has them. */
export const currentValues = new NodeMap<string>();
export const currentChecks = new NodeMap<boolean>();
export const currentSelection = new NodeMap<number[]>();

export function isCheckedNow(node: number): boolean {
  return currentChecks.get(node) ?? getAttribute(node, 'checked') !== null;
}

export function isChecked(node: number): boolean {
  if (isTag(node, ' input ')) {
    const type = getAttribute(node, 'type')?.toLowerCase();
    return (type === 'checkbox' || type === 'radio') && isCheckedNow(node);
  }
  return isTag(node, ' option ') && isSelectedOption(node);
}

export function optionsOf(select: number): number[] {
  const options: number[] = [];
  for (let each = following(select, select); each >= 0; each = following(each, select)) {
    if (isElement(each) && isTag(each, ' option ')) options.push(each);
  }
  return options;
}

export function selectedOptionsOf(select: number): number[] {
  const chosen = currentSelection.get(select);
  if (chosen !== undefined) return chosen;
  const options = optionsOf(select);
  const marked = options.filter((option) => getAttribute(option, 'selected') !== null);
  if (getAttribute(select, 'multiple') !== null) return marked;
  if (marked.length > 0) return marked.slice(-1);
  if (Number(getAttribute(select, 'size') ?? 1) > 1) return [];
  const shown = options.find((option) => {
    const parent = parentElementOf(option);
    const isOff = getAttribute(option, 'disabled') !== null;
    return !isOff && !(isTag(parent, ' optgroup ') && getAttribute(parent, 'disabled') !== null);
  });
  return shown === undefined ? [] : [shown];
}

export function isSelectedOption(option: number): boolean {
  for (let up = parentElementOf(option); up >= 0; up = parentElementOf(up)) {
    if (isTag(up, ' select ')) return selectedOptionsOf(up).includes(option);
  }
  return getAttribute(option, 'selected') !== null;
}

const writableTypes = ' text search url tel email password date month week time datetime-local number ';

export function isEditable(node: number): boolean {
  if (isTag(node, ' textarea ') || isTag(node, ' input ')) {
    const type = getAttribute(node, 'type')?.toLowerCase() ?? 'text';
    const isText = isTag(node, ' textarea ') || writableTypes.includes(` ${type} `);
    return isText && getAttribute(node, 'readonly') === null && !isDisabled(node);
  }
  for (let up = node; up >= 0; up = parentElementOf(up)) {
    const editable = getAttribute(up, 'contenteditable');
    if (editable !== null) return editable.toLowerCase() !== 'false';
  }
  return false;
}

export function isEmpty(node: number): boolean {
  for (let child = firstChild(node); child >= 0; child = nextSibling(child)) {
    const childKind = kind(child);
    if (childKind === elementKind || (childKind === textKind && dataOf(child) !== '')) return false;
  }
  return true;
}

export function languageOf(node: number): string {
  for (let up = node; up >= 0; up = parentElementOf(up)) {
    const language = getAttribute(up, 'lang') ?? getAttribute(up, 'xml:lang');
    if (language !== null) return language.toLowerCase();
  }
  return '';
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const letter = /[A-Za-z\u00aa-\u02b8\u0370-\u058f\u0590-\u1fff\u2c00-\ud7ff\uf900-\uffdc]/;

/** By the first letter that has a direction. */
function directionOfText(text: string): string {
  const first = letter.exec(text);
  return first !== null && rightToLeft.test(first[0]) ? 'rtl' : 'ltr';
}

export function directionOf(node: number): string {
  for (let up = node; up >= 0; up = parentElementOf(up)) {
    const direction = getAttribute(up, 'dir')?.toLowerCase();
    if (direction === 'ltr' || direction === 'rtl') return direction;
    if (direction === 'auto' || (direction === undefined && isTag(up, ' bdi '))) return directionOfText(textOf(up));
  }
  return 'ltr';
}
