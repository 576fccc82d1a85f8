/** Pseudo-classes without an argument: what an element is by itself and by where it stands. */
import { isForeign } from './attribute-selectors.js';
import {
  canBeDisabled,
  currentValues,
  isChecked,
  isCheckedNow,
  isDisabled,
  isEditable,
  isEmpty,
  isTag,
} from './element-state.js';
import { lazyModule } from './lazy-modules.js';
import { positionOf } from './sibling-positions.js';
import { getAttribute } from './attribute-values.js';
import { nameText } from './name-table.js';
import { documentKind, following, isElement, kind, parentElementOf, parentOf, tagOf } from './tree.js';
import { nextElement, previousElement, rootOf } from './tree-walks.js';

/** What `:scope` and, inside `:has()`, the element in question stand for. */
export interface Place {
  readonly scope: number;
  readonly anchor: number;
}

export type Test = (node: number, place: Place) => boolean;

/** States that nothing on a page at rest is in. */
export const neverTrue =
  ' hover active focus focus-visible focus-within visited local-link fullscreen modal picture-in-picture playing paused seeking buffering stalled muted volume-locked current past future user-invalid user-valid popover-open autofill -webkit-autofill target-within host host-context ';

let readTarget: () => string = () => '';

/** The fragment of the page's address, for `:target`. */
export function setTarget(read: () => string): void {
  readTarget = read;
}

const validated = ' input select textarea button form fieldset ';
const validity = lazyModule('validity');

function isBlank(node: number): boolean {
  const current = currentValues.get(node);
  if (current !== undefined) return current === '';
  return isTag(node, ' textarea ') ? isEmpty(node) : !getAttribute(node, 'value');
}

function formAround(node: number): number {
  let up = parentElementOf(node);
  while (up >= 0 && !isTag(up, ' form ')) up = parentElementOf(up);
  return up;
}

/** What is chosen at first, and the button that sends a form. */
function isDefault(node: number): boolean {
  if (isTag(node, ' option ')) return getAttribute(node, 'selected') !== null;
  const type = getAttribute(node, 'type')?.toLowerCase() ?? '';
  if (isTag(node, ' input ') && (type === 'checkbox' || type === 'radio'))
    return getAttribute(node, 'checked') !== null;
  const isSender = (each: number): boolean => {
    const own = getAttribute(each, 'type')?.toLowerCase() ?? '';
    if (isTag(each, ' input ')) return own === 'submit' || own === 'image';
    return isTag(each, ' button ') && own !== 'reset' && own !== 'button';
  };
  const form = isSender(node) ? formAround(node) : -1;
  if (form < 0) return false;
  let first = following(form, form);
  while (first >= 0 && !(isElement(first) && isSender(first))) first = following(first, form);
  return first === node;
}

function isIndeterminate(node: number): boolean {
  if (isTag(node, ' progress ')) return getAttribute(node, 'value') === null;
  if (!isTag(node, ' input ') || getAttribute(node, 'type')?.toLowerCase() !== 'radio') return false;
  const name = getAttribute(node, 'name');
  if (name === null || name === '') return !isCheckedNow(node);
  const form = formAround(node);
  const root = form < 0 ? rootOf(node) : form;
  for (let each = following(root, root); each >= 0; each = following(each, root)) {
    const isOfGroup = isElement(each) && isTag(each, ' input ') && getAttribute(each, 'name') === name;
    if (isOfGroup && formAround(each) === form && isChecked(each)) return false;
  }
  return true;
}

export const plainTests: Readonly<Record<string, Test>> = {
  root: (node) => parentElementOf(node) < 0 && parentOf(node) >= 0 && kind(parentOf(node)) === documentKind,
  empty: isEmpty,
  'first-child': (node) => previousElement(node) < 0,
  'last-child': (node) => nextElement(node) < 0,
  'only-child': (node) => previousElement(node) < 0 && nextElement(node) < 0,
  'first-of-type': (node) => positionOf(node, false, true) === 1,
  'last-of-type': (node) => positionOf(node, true, true) === 1,
  'only-of-type': (node) => positionOf(node, false, true) === 1 && positionOf(node, true, true) === 1,
  scope: (node, place) => node === place.scope,
  checked: isChecked,
  disabled: isDisabled,
  enabled: (node) => isTag(node, canBeDisabled) && !isDisabled(node),
  required: (node) => isTag(node, ' input select textarea ') && getAttribute(node, 'required') !== null,
  optional: (node) => isTag(node, ' input select textarea button ') && getAttribute(node, 'required') === null,
  'read-write': isEditable,
  'read-only': (node) => !isEditable(node),
  link: (node) => isTag(node, ' a area ') && getAttribute(node, 'href') !== null,
  'any-link': (node) => isTag(node, ' a area ') && getAttribute(node, 'href') !== null,
  'placeholder-shown': (node) =>
    isTag(node, ' input textarea ') && getAttribute(node, 'placeholder') !== null && isBlank(node),
  default: isDefault,
  indeterminate: isIndeterminate,
  target: (node) => {
    const id = getAttribute(node, 'id');
    return id !== null && id !== '' && id === readTarget();
  },
  defined: (node) => !nameText(tagOf(node)).includes('-') || isForeign(node),
  open: (node) => isTag(node, ' details dialog ') && getAttribute(node, 'open') !== null,
  valid: (node) => isTag(node, validated) && validity().verdictOf(node) === true,
  invalid: (node) => isTag(node, validated) && validity().verdictOf(node) === false,
  'in-range': (node) => isTag(node, ' input ') && validity().isInRange(node) === true,
  'out-of-range': (node) => isTag(node, ' input ') && validity().isInRange(node) === false,
};
