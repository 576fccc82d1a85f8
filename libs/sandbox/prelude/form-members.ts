/** Forms, inputs and text areas: values as the page gives them, until code sets others. */
import { currentChecks, currentSelection, currentValues, isCheckedNow, isDisabled } from './element-state.js';
import type { HTMLCollection, NodeList } from './lists.js';
import { controlsCollection, namedControl, staticList } from './lists.js';
import { lazyModule } from './lazy-modules.js';
import { NodeMap } from './node-map.js';
import { numberOf, tag, write } from './nodes.js';
import { selectAll, selectFirst } from './selectors.js';
import { getAttribute, removeAttribute, setAttribute } from './attribute-values.js';
import { parentElementOf, textOf } from './tree.js';
import { rootOf } from './tree-walks.js';
import { wrap } from './wrappers.js';

export const listedControls = 'button, fieldset, input:not([type=image]), object, output, select, textarea';

export function formOf(node: number): number {
  const id = getAttribute(node, 'form');
  if (id !== null) {
    const named = selectAll(0, 'form').find((form) => getAttribute(form, 'id') === id);
    return named ?? -1;
  }
  for (let up = parentElementOf(node); up >= 0; up = parentElementOf(up)) if (tag(up) === 'form') return up;
  return -1;
}

export function controlsOf(form: number): number[] {
  const inside = selectAll(form, listedControls).filter((control) => formOf(control) === form);
  const id = getAttribute(form, 'id');
  if (id === null || id === '') return inside;
  const all = selectAll(0, listedControls);
  return all.filter((control) => formOf(control) === form);
}

function labelsOf(node: number): number[] {
  const id = getAttribute(node, 'id');
  return selectAll(0, 'label').filter(
    (label) => controlOf(label) === node || (id !== null && getAttribute(label, 'for') === id),
  );
}

export function controlOf(label: number): number {
  const id = getAttribute(label, 'for');
  if (id !== null) return selectAll(0, '[id]').find((each) => getAttribute(each, 'id') === id) ?? -1;
  return selectFirst(label, 'button, input:not([type=hidden]), meter, output, progress, select, textarea');
}

export const labelledMembers = {
  get labels(): NodeList {
    return staticList(labelsOf(numberOf(this)));
  },
};

export const filledMembers = {
  get autocomplete(): string {
    return autofill().autofillOf(numberOf(this));
  },
  set autocomplete(value: unknown) {
    write(numberOf(this), 'autocomplete', value);
  },
};

export const controlMembers = {
  get form(): object | null {
    return wrap(formOf(numberOf(this)));
  },
  get willValidate(): boolean {
    return validity().isAsked(numberOf(this));
  },
  get validity(): object {
    return new (validity().ValidityState)(numberOf(this));
  },
  get validationMessage(): string {
    const node = numberOf(this);
    if (validity().isValid(node)) return '';
    return customFaults.get(node) ?? 'The value is not what the control asks for.';
  },
  checkValidity(): boolean {
    return validity().isValid(numberOf(this));
  },
  reportValidity(): boolean {
    return validity().isValid(numberOf(this));
  },
  setCustomValidity(message: unknown): void {
    customFaults.set(numberOf(this), String(message));
  },
};

const autofill = lazyModule('autofill');
const validity = lazyModule('validity');
const customFaults = new NodeMap<string>();

export function customFault(node: number): string {
  return customFaults.get(node) ?? '';
}

const inputTypes =
  ' text hidden search tel url email password date month week time datetime-local number range color checkbox radio file submit image reset button ';

export function inputType(node: number): string {
  const type = (getAttribute(node, 'type') ?? 'text').toLowerCase();
  return inputTypes.includes(` ${type} `) ? type : 'text';
}

const dateForms: Readonly<Record<string, RegExp>> = {
  date: /^\d{4,}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/,
  month: /^\d{4,}-(?:0[1-9]|1[0-2])$/,
  week: /^\d{4,}-W(?:0[1-9]|[1-4]\d|5[0-3])$/,
  time: /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?$/,
  'datetime-local': /^\d{4,}-\d\d-\d\d[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?$/,
  number: /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/,
};

function rangeValue(node: number, value: string): string {
  const number = (text: string | null, otherwise: number): number => {
    const found = text === null || text.trim() === '' ? Number.NaN : Number(text);
    return Number.isNaN(found) ? otherwise : found;
  };
  const least = number(getAttribute(node, 'min'), 0);
  const most = Math.max(least, number(getAttribute(node, 'max'), 100));
  const wanted = number(value, least + (most - least) / 2);
  return String(Math.min(most, Math.max(least, wanted)));
}

/** A value as its type lets it be. */
function sanitized(node: number, type: string, value: string): string {
  const form = dateForms[type];
  if (form !== undefined) return form.test(value) ? value.replace(/^(\d{4,}-\d\d-\d\d) /, '$1T') : '';
  switch (type) {
    case 'range':
      return rangeValue(node, value);
    case 'color':
      return /^#[0-9a-f]{6}$/i.test(value.trim()) ? value.trim().toLowerCase() : '#000000';
    case 'url':
    case 'email':
      return value.replace(/[\r\n]/g, '').trim();
    case 'text':
    case 'search':
    case 'tel':
    case 'password':
      return value.replace(/[\r\n]/g, '');
    default:
      return value;
  }
}

/** What an input or a text area holds now. */
export function inputValue(node: number): string {
  const current = currentValues.get(node);
  if (tag(node) === 'textarea') return current ?? textOf(node).replace(/\r\n?/g, '\n');
  const type = inputType(node);
  if (type === 'file') return '';
  const written = current ?? getAttribute(node, 'value');
  if (written === null && (type === 'checkbox' || type === 'radio')) return 'on';
  return sanitized(node, type, written ?? '');
}

/** What a click on an element does by itself: the events to dispatch afterwards, what is clicked with it, and how to undo it. */
export interface Activation {
  readonly events: readonly string[];
  readonly next: number;
  undo(): void;
}

function sameGroup(node: number): number[] {
  const name = getAttribute(node, 'name') ?? '';
  if (name === '') return [];
  const form = formOf(node);
  return selectAll(rootOf(node), 'input').filter(
    (each) =>
      each !== node && inputType(each) === 'radio' && getAttribute(each, 'name') === name && formOf(each) === form,
  );
}

/** Ticks a box; of the buttons of a group one alone stays pressed. */
function check(node: number, isWanted: boolean): void {
  currentChecks.set(node, isWanted);
  if (isWanted && inputType(node) === 'radio') for (const other of sameGroup(node)) currentChecks.set(other, false);
}

export function clickedBy(node: number): Activation {
  const nothing: Activation = { events: [], next: -1, undo: () => undefined };
  const name = tag(node);
  if (name === 'label') {
    const control = controlOf(node);
    return { ...nothing, next: control >= 0 && !isDisabled(control) ? control : -1 };
  }
  if (name === 'summary' && parentElementOf(node) >= 0 && tag(parentElementOf(node)) === 'details') {
    const details = parentElementOf(node);
    if (getAttribute(details, 'open') === null) setAttribute(details, 'open', '');
    else removeAttribute(details, 'open');
    return nothing;
  }
  const type = inputType(node);
  if (name !== 'input' || (type !== 'checkbox' && type !== 'radio')) return nothing;
  const touched = type === 'radio' ? [node, ...sameGroup(node)] : [node];
  const before = touched.map((each) => currentChecks.get(each));
  const wasChecked = isCheckedNow(node);
  check(node, type === 'radio' || !wasChecked);
  return {
    events: isCheckedNow(node) === wasChecked ? [] : ['input', 'change'],
    next: -1,
    undo: () => touched.forEach((each, at) => currentChecks.set(each, before[at])),
  };
}

export const inputMembers = {
  get value(): string {
    return inputValue(numberOf(this));
  },
  set value(value: unknown) {
    const node = numberOf(this);
    const text = value === null ? '' : String(value);
    // Of these the attribute is the value.
    if (/^(?:hidden|submit|image|reset|button|checkbox|radio)$/.test(inputType(node))) write(node, 'value', text);
    else currentValues.set(node, text);
  },
  get checked(): boolean {
    return isCheckedNow(numberOf(this));
  },
  set checked(value: unknown) {
    check(numberOf(this), Boolean(value));
  },
  get valueAsNumber(): number {
    const type = inputType(numberOf(this));
    const text = this.value;
    if (type === 'number' || type === 'range') return text === '' ? Number.NaN : Number(text);
    return this.valueAsDate?.getTime() ?? (type === 'datetime-local' ? Date.parse(`${text}Z`) : Number.NaN);
  },
  get valueAsDate(): Date | null {
    const type = inputType(numberOf(this));
    const text = this.value;
    if (text === '' || (type !== 'date' && type !== 'month' && type !== 'time')) return null;
    const time = Date.parse(type === 'time' ? `1970-01-01T${text}Z` : type === 'month' ? `${text}-01` : text);
    return Number.isNaN(time) ? null : new Date(time);
  },
  get list(): object | null {
    const id = getAttribute(numberOf(this), 'list');
    return id === null ? null : wrap(selectAll(0, 'datalist').find((each) => getAttribute(each, 'id') === id) ?? -1);
  },
  get files(): object | null {
    return inputType(numberOf(this)) === 'file' ? { length: 0, item: () => null } : null;
  },
  get indeterminate(): boolean {
    return false;
  },
  select(): void {
    // There is no selection on a page at rest.
  },
};

export const textAreaMembers = {
  get value(): string {
    return inputValue(numberOf(this));
  },
  set value(value: unknown) {
    currentValues.set(numberOf(this), value === null ? '' : String(value));
  },
  get defaultValue(): string {
    return textOf(numberOf(this));
  },
  get textLength(): number {
    return this.value.length;
  },
  get type(): string {
    return 'textarea';
  },
};

export const formMembers = {
  get elements(): HTMLCollection {
    return controlsCollection(numberOf(this), controlsOf);
  },
  get length(): number {
    return controlsOf(numberOf(this)).length;
  },
  [Symbol.iterator](): Iterator<object> {
    return controlsCollection(numberOf(this), controlsOf)[Symbol.iterator]();
  },
  submit(): never {
    throw new Error('A form cannot be sent: nothing here reaches the site.');
  },
  requestSubmit(): never {
    throw new Error('A form cannot be sent: nothing here reaches the site.');
  },
  reset(): void {
    for (const control of controlsOf(numberOf(this))) {
      currentValues.set(control, undefined);
      currentChecks.set(control, undefined);
      currentSelection.set(control, undefined);
    }
  },
  checkValidity(): boolean {
    return controlsOf(numberOf(this)).every((control) => validity().isValid(control));
  },
  reportValidity(): boolean {
    return controlsOf(numberOf(this)).every((control) => validity().isValid(control));
  },
};

/** Controls of a form by their places, names and ids, as `form[0]` and `form.zone` find them. */
export function nameControls(form: object): void {
  const node = numberOf(form);
  for (let at = controlsOf(node).length - 1; at >= 0; at--) {
    const get = (): object | undefined => wrap(controlsOf(node)[at] ?? -1) ?? undefined;
    Object.defineProperty(form, at, { get, enumerable: true, configurable: true });
  }
  for (const control of controlsOf(node)) {
    for (const attribute of ['id', 'name']) {
      const name = getAttribute(control, attribute);
      if (name === null || name === '' || Object.hasOwn(form, name)) continue;
      Object.defineProperty(form, name, {
        get: () => namedControl(controlsOf(node), name) ?? undefined,
        set(this: object, value: unknown) {
          Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
        },
        enumerable: false,
        configurable: true,
      });
    }
  }
}
