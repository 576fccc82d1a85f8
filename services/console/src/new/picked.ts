/** What a click on the page makes of a condition. Pure. */
import { lastOf, withLast, type Condition } from './condition.js';
import type { Pick } from './picker.js';
import { firstGuess, type Sentence } from './sentence.js';

/** The selector that is shown as chosen. */
export function chosenIn(condition: Condition | null): string | null {
  const last = condition === null ? null : lastOf(condition);
  return last !== null && 'selector' in last ? last.selector : null;
}

const isOfLists = ({ kind }: Sentence): boolean => kind === 'newItem' || kind === 'count';

/** A fresh guess. */
export function withGuess(condition: Condition | null, { selector, text, inList }: Pick): Condition {
  const guess = firstGuess(selector, text, inList);
  return condition === null ? guess : withLast(condition, guess);
}

/** The same sentence about another element, where it is about one at all. */
export function withElement(condition: Condition, pick: Pick): Condition {
  const last = lastOf(condition);
  return last !== null && 'selector' in last
    ? withLast(condition, { ...last, selector: pick.selector })
    : withGuess(condition, pick);
}

/** Another way to say which elements: of several, where it was one, only lists can be told. */
export function withSelector(condition: Condition | null, selector: string, isList: boolean): Condition | null {
  const last = condition === null ? null : lastOf(condition);
  if (condition === null || last === null || !('selector' in last)) return null;
  if (isList === isOfLists(last)) return withLast(condition, { ...last, selector });
  return withLast(condition, isList ? { kind: 'newItem', selector } : { kind: 'changes', selector });
}
