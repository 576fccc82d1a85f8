/** Pseudo-classes without an argument: what an element is by itself and by where it stands. */
import { isForeign } from './attribute-selectors.js';
import { canBeDisabled, isChecked, isDisabled, isEditable, isEmpty, isTag } from './element-state.js';
import { positionOf } from './sibling-positions.js';
import { documentKind, getAttribute, kind, nameText, parentElementOf, parentOf, tagOf } from './tree.js';
import { nextElement, previousElement } from './tree-walks.js';

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
  optional: (node) => isTag(node, ' input select textarea ') && getAttribute(node, 'required') === null,
  'read-write': isEditable,
  'read-only': (node) => !isEditable(node),
  link: (node) => isTag(node, ' a area ') && getAttribute(node, 'href') !== null,
  'any-link': (node) => isTag(node, ' a area ') && getAttribute(node, 'href') !== null,
  'placeholder-shown': (node) =>
    isTag(node, ' input textarea ') && !!getAttribute(node, 'placeholder') && !getAttribute(node, 'value'),
  default: (node) =>
    (isTag(node, ' input ') && getAttribute(node, 'checked') !== null) ||
    (isTag(node, ' option ') && getAttribute(node, 'selected') !== null),
  indeterminate: (node) => isTag(node, ' progress ') && getAttribute(node, 'value') === null,
  target: (node) => {
    const id = getAttribute(node, 'id');
    return id !== null && id !== '' && id === readTarget();
  },
  defined: (node) => !nameText(tagOf(node)).includes('-') || isForeign(node),
  open: (node) => isTag(node, ' details dialog ') && getAttribute(node, 'open') !== null,
  valid: (node) => isTag(node, ' input select textarea form fieldset '),
  invalid: () => false,
  'in-range': (node) => isTag(node, ' input ') && getAttribute(node, 'min') !== null,
  'out-of-range': () => false,
};
