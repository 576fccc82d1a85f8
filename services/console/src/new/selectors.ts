/**
 * Selectors for an element of a page, steady ones first: they are made and tried on the document that runs see, and each
 * matches that element alone. Never by the text that is watched, and by no name that looks generated.
 */

export const ways = ['testId', 'id', 'label', 'class', 'place'] as const;
/** How an element was found. */
export type Way = (typeof ways)[number];

export interface Candidate {
  readonly selector: string;
  readonly way: Way;
}

const testIdAttributes = ['data-testid', 'data-test-id', 'data-test', 'data-qa', 'data-cy'];
const labelAttributes = ['aria-label', 'name', 'itemprop', 'rel'];
/** `css-1x8f`, `sc-bdVaJa`, `jss42`, `_3xk2p`, `a9f83bc21`: other ones at the next build of the page. */
const generated =
  /^(?:css|sc|jss|svelte|emotion)-?[\w-]*\d|^sc-|^_|--|__[\w-]*[0-9a-f]{4,}|\d{3,}|(?=[a-z]*[A-Z]\w*[a-z][A-Z]\w*$)\w{6,8}$/;
/** Names of a state, which are there one day and gone the other. */
const passing =
  /^(?:is|has|js)-|^(?:active|open|selected|hover|focus|disabled|loading|visible|hidden|first|last|odd|even)$/;

const isSteady = (name: string): boolean =>
  name.length > 1 && name.length <= 60 && !generated.test(name) && !passing.test(name);

const attribute = (name: string, value: string): string => `[${name}="${value.replace(/["\\]/g, String.raw`\$&`)}"]`;

/** Null: the selector is none. */
export function matchesOf(page: ParentNode, selector: string): readonly Element[] | null {
  try {
    return [...page.querySelectorAll(selector)];
  } catch {
    return null;
  }
}

const isAlone = (page: ParentNode, selector: string, element: Element): boolean => {
  const found = matchesOf(page, selector);
  return found?.length === 1 && found[0] === element;
};

function steadyClasses(element: Element): readonly string[] {
  return [...element.classList].filter(isSteady);
}

/** What an element is called apart from its place, the steadiest first; each may match others, too. */
function ownNames(element: Element): readonly Candidate[] {
  const tag = element.localName;
  const names: Candidate[] = [];
  for (const name of testIdAttributes) {
    const value = element.getAttribute(name);
    if (value !== null && value !== '') names.push({ selector: attribute(name, value), way: 'testId' });
  }
  if (element.id !== '' && isSteady(element.id)) names.push({ selector: `#${CSS.escape(element.id)}`, way: 'id' });
  for (const name of labelAttributes) {
    const value = element.getAttribute(name);
    if (value !== null && value !== '' && value.length <= 80) {
      names.push({ selector: `${tag}${attribute(name, value)}`, way: 'label' });
    }
  }
  const classes = steadyClasses(element).map((name) => `.${CSS.escape(name)}`);
  for (const one of classes) names.push({ selector: one, way: 'class' });
  if (classes.length > 1) names.push({ selector: classes.join(''), way: 'class' });
  for (const one of classes) names.push({ selector: `${tag}${one}`, way: 'class' });
  return names;
}

/** `li:nth-of-type(3)`, or the tag alone where it is the only one of its kind there. */
function placeOf(element: Element): string {
  const tag = element.localName;
  const siblings = [...(element.parentElement?.children ?? [])].filter(({ localName }) => localName === tag);
  return siblings.length <= 1 ? tag : `${tag}:nth-of-type(${siblings.indexOf(element) + 1})`;
}

/** The way down to it from the nearest ancestor that has a name of its own. */
function byPlace(page: ParentNode, element: Element): string | null {
  let path = placeOf(element);
  for (let above = element.parentElement; above !== null; above = above.parentElement) {
    const anchor = ownNames(above).find(({ selector }) => isAlone(page, selector, above));
    if (anchor !== undefined && isAlone(page, `${anchor.selector} > ${path}`, element)) {
      return `${anchor.selector} > ${path}`;
    }
    if (above.localName === 'body' || above.parentElement === null) {
      const whole = `${above.localName} > ${path}`;
      return isAlone(page, whole, element) ? whole : null;
    }
    path = `${placeOf(above)} > ${path}`;
  }
  return isAlone(page, path, element) ? path : null;
}

/** Every way to this element alone, the steadiest first; each way once. */
export function candidatesOf(page: ParentNode, element: Element): readonly Candidate[] {
  const alone: Candidate[] = [];
  for (const name of ownNames(element)) {
    if (isAlone(page, name.selector, element)) alone.push(name);
  }
  const place = byPlace(page, element);
  if (place !== null) alone.push({ selector: place, way: 'place' });
  return ways.flatMap((way) => alone.find((candidate) => candidate.way === way) ?? []);
}

/** How a given selector finds what it finds. */
export function wayOf(selector: string): Way {
  if (/\[data-(?:testid|test-id|test|qa|cy)/.test(selector)) return 'testId';
  if (/:nth-|>/.test(selector)) return 'place';
  if (/#/.test(selector)) return 'id';
  return /\[/.test(selector) ? 'label' : 'class';
}

/** Another way to the same element that shares none of the names of the first, for the day when the first stops matching. */
export function secondOf(page: ParentNode, element: Element, first: string): Candidate | null {
  const way = wayOf(first);
  return candidatesOf(page, element).find((candidate) => candidate.way !== way && candidate.selector !== first) ?? null;
}

/** A selector of all that are like this one: the items of the list that it is in. Null where it stands alone. */
export function likeThis(page: ParentNode, element: Element): string | null {
  for (let item: Element | null = element; item !== null; item = item.parentElement) {
    const { parentElement: list, localName: tag } = item;
    if (list === null || tag === 'body') return null;
    const alike = [...list.children].filter(({ localName }) => localName === tag);
    if (alike.length < 2) continue;
    const shared = steadyClasses(item).filter((name) => alike.every((one) => one.classList.contains(name)));
    const [name] = shared;
    const inner = innerPath(item, element);
    const own = name === undefined ? tag : `.${CSS.escape(name)}`;
    const anchor = candidatesOf(page, list)[0]?.selector ?? list.localName;
    for (const selector of [name === undefined ? null : `${own}${inner}`, `${anchor} > ${own}${inner}`]) {
      if (selector === null) continue;
      const found = matchesOf(page, selector);
      if (found !== null && found.length > 1 && found.includes(element)) return selector;
    }
  }
  return null;
}

/** From an item of a list down to what was chosen in it. */
function innerPath(item: Element, element: Element): string {
  if (item === element) return '';
  const names: string[] = [];
  for (let at: Element | null = element; at !== null && at !== item; at = at.parentElement) {
    const [name] = steadyClasses(at);
    names.unshift(name === undefined ? at.localName : `.${CSS.escape(name)}`);
  }
  return ` > ${names.join(' > ')}`;
}

/** With one more element, or without one that it matches. */
export function withAlso(page: ParentNode, selector: string, element: Element): string | null {
  const own = candidatesOf(page, element)[0]?.selector;
  if (own === undefined) return null;
  const isMatched = matchesOf(page, selector)?.includes(element) === true;
  if (!isMatched) return `${selector}, ${own}`;
  const parts = selector.split(', ');
  const others = parts.filter((part) => matchesOf(page, part)?.includes(element) !== true);
  const kept = others.length < parts.length && others.length > 0 ? others.join(', ') : `${selector}:not(${own})`;
  return (matchesOf(page, kept)?.length ?? 0) > 0 ? kept : null;
}

/** The first element inside that has words of its own, or the first one at all. */
export function narrowerOf(element: Element): Element | null {
  const children = [...element.children];
  return children.find(({ textContent }) => textContent.trim() !== '') ?? children[0] ?? null;
}
