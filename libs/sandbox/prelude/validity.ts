/** Whether what a form's controls hold is what they ask for. */
import { isCheckedNow, isDisabled, selectedOptionsOf } from './element-state.js';
import { customFault, formOf, inputType, inputValue } from './form-members.js';
import { selectAll } from './selectors.js';
import { getAttribute } from './attribute-values.js';
import { nameText } from './name-table.js';
import { parentElementOf, tagOf, textOf } from './tree.js';
import { rootOf } from './tree-walks.js';

export interface Faults {
  readonly valueMissing: boolean;
  readonly typeMismatch: boolean;
  readonly patternMismatch: boolean;
  readonly tooLong: boolean;
  readonly tooShort: boolean;
  readonly rangeUnderflow: boolean;
  readonly rangeOverflow: boolean;
  readonly stepMismatch: boolean;
  readonly badInput: boolean;
  readonly customError: boolean;
}

const tagOfNode = (node: number): string => nameText(tagOf(node));
const textTypes = ' text search tel url email password ';
const rangeTypes = ' number range date month week time datetime-local ';
const email =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
const absolute = /^[a-zA-Z][\w+.-]*:./;

/** A control that its form would ask before it is sent. */
export function isAsked(node: number): boolean {
  const tag = tagOfNode(node);
  const type = tag === 'input' ? inputType(node) : (getAttribute(node, 'type') ?? 'submit').toLowerCase();
  if (tag === 'input') {
    if (/^(?:hidden|reset|button|image)$/.test(type)) return false;
    if (
      getAttribute(node, 'readonly') !== null &&
      (textTypes.includes(` ${type} `) || rangeTypes.includes(` ${type} `))
    ) {
      return false;
    }
  } else if (tag === 'textarea') {
    if (getAttribute(node, 'readonly') !== null) return false;
  } else if (tag === 'button') {
    if (type === 'reset' || type === 'button') return false;
  } else if (tag !== 'select') return false;
  if (isDisabled(node)) return false;
  for (let up = parentElementOf(node); up >= 0; up = parentElementOf(up))
    if (tagOfNode(up) === 'datalist') return false;
  return true;
}

function isMissing(node: number, tag: string, type: string, value: string): boolean {
  if (getAttribute(node, 'required') === null) return false;
  if (tag === 'select') {
    return !selectedOptionsOf(node).some((option) => (getAttribute(option, 'value') ?? textOf(option)) !== '');
  }
  if (type === 'checkbox') return !isCheckedNow(node);
  if (type !== 'radio') return value === '';
  const name = getAttribute(node, 'name') ?? '';
  const group = selectAll(rootOf(node), 'input[type=radio]').filter(
    (each) => each === node || (name !== '' && getAttribute(each, 'name') === name && formOf(each) === formOf(node)),
  );
  return !group.some(isCheckedNow);
}

/** A value of a type that has an order as a number. */
function numberOfValue(type: string, text: string | null): number {
  if (text === null || text === '') return Number.NaN;
  if (type === 'number' || type === 'range')
    return /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (type === 'time') return Date.parse(`1970-01-01T${text}Z`);
  if (type === 'month') return Date.parse(`${text}-01`);
  if (type === 'datetime-local') return Date.parse(`${text}Z`);
  const week = /^(\d{4})-W(\d\d)$/.exec(text);
  if (type === 'week') return week === null ? Number.NaN : Number(week[1]) * 53 + Number(week[2]);
  return Date.parse(text);
}

function isOffStep(node: number, type: string, value: number): boolean {
  if (type !== 'number' && type !== 'range') return false;
  const written = getAttribute(node, 'step');
  if (written?.toLowerCase() === 'any') return false;
  const step = Number(written ?? 1) > 0 ? Number(written ?? 1) : 1;
  const base = numberOfValue(type, getAttribute(node, 'min') ?? getAttribute(node, 'value') ?? '0');
  const steps = (value - (Number.isNaN(base) ? 0 : base)) / step;
  return Math.abs(steps - Math.round(steps)) > 1e-7;
}

function fitsPattern(pattern: string, value: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'v').test(value);
  } catch {
    return true;
  }
}

export function faultsOf(node: number): Faults {
  const tag = tagOfNode(node);
  const type = tag === 'input' ? inputType(node) : '';
  const value = tag === 'input' || tag === 'textarea' ? inputValue(node) : '';
  const isText = tag === 'textarea' || textTypes.includes(` ${type} `);
  const number = rangeTypes.includes(` ${type} `) ? numberOfValue(type, value) : Number.NaN;
  const values = type === 'email' && getAttribute(node, 'multiple') !== null ? value.split(',') : [value];
  const isWrong =
    (type === 'email' && !values.every((each) => email.test(each.trim()))) || (type === 'url' && !absolute.test(value));
  const pattern = getAttribute(node, 'pattern');
  return {
    valueMissing: isMissing(node, tag, type, value),
    typeMismatch: value !== '' && isWrong,
    patternMismatch:
      isText &&
      tag === 'input' &&
      pattern !== null &&
      value !== '' &&
      !values.every((each) => fitsPattern(pattern, each)),
    // Lengths apply to what a person has typed, which never happens here.
    tooLong: false,
    tooShort: false,
    rangeUnderflow: number < numberOfValue(type, getAttribute(node, 'min')),
    rangeOverflow: number > numberOfValue(type, getAttribute(node, 'max')),
    stepMismatch: !Number.isNaN(number) && isOffStep(node, type, number),
    badInput: false,
    customError: customFault(node) !== '',
  };
}

export function isValid(node: number): boolean {
  return !isAsked(node) || !Object.values(faultsOf(node)).includes(true);
}

/** For `:valid` and `:invalid`: null where neither is said. */
export function verdictOf(node: number): boolean | null {
  const tag = tagOfNode(node);
  if (tag === 'form' || tag === 'fieldset') {
    const controls = selectAll(tag === 'form' ? rootOf(node) : node, 'input, select, textarea, button');
    return controls.every((each) => (tag === 'form' && formOf(each) !== node) || isValid(each));
  }
  return isAsked(node) ? isValid(node) : null;
}

/** For `:in-range` and `:out-of-range`: null where there is no range. */
export function isInRange(node: number): boolean | null {
  const type = tagOfNode(node) === 'input' ? inputType(node) : '';
  const isRanged = rangeTypes.includes(` ${type} `) && isAsked(node);
  const hasRange = type === 'range' || getAttribute(node, 'min') !== null || getAttribute(node, 'max') !== null;
  if (!isRanged || !hasRange) return null;
  const { rangeUnderflow, rangeOverflow } = faultsOf(node);
  return !rangeUnderflow && !rangeOverflow;
}

export class ValidityState {
  readonly #node: number;
  constructor(node: number) {
    this.#node = node;
  }
  static of(state: ValidityState): Faults {
    return faultsOf(state.#node);
  }
  get valid(): boolean {
    return !Object.values(faultsOf(this.#node)).includes(true);
  }
}
for (const name of [
  'valueMissing',
  'typeMismatch',
  'patternMismatch',
  'tooLong',
  'tooShort',
  'rangeUnderflow',
  'rangeOverflow',
  'stepMismatch',
  'badInput',
  'customError',
] as const) {
  Object.defineProperty(ValidityState.prototype, name, {
    get(this: ValidityState) {
      return ValidityState.of(this)[name];
    },
    enumerable: true,
    configurable: true,
  });
}
