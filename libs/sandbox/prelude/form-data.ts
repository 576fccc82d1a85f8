/** `FormData`: the entries that a form would send. */
import { isDisabled, selectedOptionsOf } from './element-state.js';
import { numberOf, tag } from './nodes.js';
import { getAttribute } from './attribute-values.js';
import { wrap } from './wrappers.js';
import { optionValue } from './select-members.js';
import { controlsOf, inputType } from './form-members.js';

/** The entries that a form would send, in order. */
function formEntries(form: number): [string, string][] {
  const entries: [string, string][] = [];
  for (const control of controlsOf(form)) {
    const name = getAttribute(control, 'name') ?? '';
    const type = inputType(control);
    if (name === '' || isDisabled(control) || /^(?:button|output|fieldset|object)$/.test(tag(control))) continue;
    if (tag(control) === 'select') {
      for (const option of selectedOptionsOf(control))
        if (!isDisabled(option)) entries.push([name, optionValue(option)]);
      continue;
    }
    if (tag(control) === 'input' && /^(?:submit|reset|button|image|file)$/.test(type)) continue;
    const object = wrap(control) as { value?: unknown; checked?: unknown };
    if ((type === 'checkbox' || type === 'radio') && object.checked !== true) continue;
    if (typeof object.value === 'string') entries.push([name, object.value]);
  }
  return entries;
}

export class FormData {
  #entries: [string, string][];
  constructor(form?: unknown) {
    this.#entries = form === undefined || form === null ? [] : formEntries(numberOf(form));
  }
  append(name: unknown, value: unknown): void {
    this.#entries.push([String(name), String(value)]);
  }
  delete(name: unknown): void {
    this.#entries = this.#entries.filter(([key]) => key !== String(name));
  }
  get(name: unknown): string | null {
    return this.#entries.find(([key]) => key === String(name))?.[1] ?? null;
  }
  getAll(name: unknown): string[] {
    return this.#entries.filter(([key]) => key === String(name)).map(([, value]) => value);
  }
  has(name: unknown): boolean {
    return this.#entries.some(([key]) => key === String(name));
  }
  set(name: unknown, value: unknown): void {
    this.delete(name);
    this.append(name, value);
  }
  forEach(visit: (value: string, name: string, data: FormData) => void): void {
    for (const [name, value] of this.#entries) visit(value, name, this);
  }
  entries(): IterableIterator<[string, string]> {
    return this.#entries.values();
  }
  *keys(): Generator<string> {
    for (const [name] of this.#entries) yield name;
  }
  *values(): Generator<string> {
    for (const [, value] of this.#entries) yield value;
  }
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}
