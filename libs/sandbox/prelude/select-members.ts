/** `select` and `option` elements. */
import { currentSelection, isSelectedOption, optionsOf, selectedOptionsOf } from './element-state.js';
import type { HTMLCollection } from './lists.js';
import { liveCollection } from './lists.js';
import { numberOf, tag, write } from './nodes.js';
import { getAttribute } from './attribute-values.js';
import { parentElementOf, textOf } from './tree.js';
import { wrap } from './wrappers.js';
import { formOf } from './form-members.js';

function optionText(option: number): string {
  return textOf(option)
    .replace(/[\t\n\f\r ]+/g, ' ')
    .replace(/^ | $/g, '');
}

export function optionValue(option: number): string {
  return getAttribute(option, 'value') ?? optionText(option);
}

export const selectMembers = {
  get options(): HTMLCollection {
    return liveCollection(numberOf(this), optionsOf);
  },
  get selectedOptions(): HTMLCollection {
    return liveCollection(numberOf(this), selectedOptionsOf);
  },
  get selectedIndex(): number {
    const [first] = selectedOptionsOf(numberOf(this));
    return first === undefined ? -1 : optionsOf(numberOf(this)).indexOf(first);
  },
  set selectedIndex(index: unknown) {
    const option = optionsOf(numberOf(this))[Number(index)];
    currentSelection.set(numberOf(this), option === undefined ? [] : [option]);
  },
  get value(): string {
    const [first] = selectedOptionsOf(numberOf(this));
    return first === undefined ? '' : optionValue(first);
  },
  set value(value: unknown) {
    const option = optionsOf(numberOf(this)).find((each) => optionValue(each) === String(value));
    currentSelection.set(numberOf(this), option === undefined ? [] : [option]);
  },
  get length(): number {
    return optionsOf(numberOf(this)).length;
  },
  get type(): string {
    return getAttribute(numberOf(this), 'multiple') === null ? 'select-one' : 'select-multiple';
  },
  item(index: number): object | null {
    return wrap(optionsOf(numberOf(this))[index] ?? -1);
  },
};

function selectOf(option: number): number {
  for (let up = parentElementOf(option); up >= 0; up = parentElementOf(up)) if (tag(up) === 'select') return up;
  return -1;
}

export const optionMembers = {
  get value(): string {
    return optionValue(numberOf(this));
  },
  set value(value: unknown) {
    write(numberOf(this), 'value', value);
  },
  get text(): string {
    return optionText(numberOf(this));
  },
  get label(): string {
    return getAttribute(numberOf(this), 'label') ?? optionText(numberOf(this));
  },
  set label(value: unknown) {
    write(numberOf(this), 'label', value);
  },
  get selected(): boolean {
    const option = numberOf(this);
    const select = selectOf(option);
    return select >= 0 ? selectedOptionsOf(select).includes(option) : isSelectedOption(option);
  },
  set selected(value: unknown) {
    const select = selectOf(numberOf(this));
    if (select < 0) return;
    const others = selectedOptionsOf(select).filter((option) => option !== numberOf(this));
    const isMultiple = getAttribute(select, 'multiple') !== null;
    currentSelection.set(select, value ? [...(isMultiple ? others : []), numberOf(this)] : others);
  },
  get index(): number {
    const select = selectOf(numberOf(this));
    return select < 0 ? 0 : optionsOf(select).indexOf(numberOf(this));
  },
  get form(): object | null {
    const select = selectOf(numberOf(this));
    return select < 0 ? null : wrap(formOf(select));
  },
};
