/**
 * A loaded page to look at and to click on. What is shown is built anew from its elements and words, by names that are known to do
 * nothing: nothing of the page runs, loads or leads anywhere. The list of elements does the same for the keyboard.
 */
import { useEffect, useRef, type ReactNode } from 'react';

const shown = new Set(
  'article aside b blockquote br button caption cite code dd del div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i ins kbd label li main mark nav ol p pre q s section small span strong sub summary sup table tbody td tfoot th thead time tr u ul'.split(
    ' ',
  ),
);
const unseen = new Set(['script', 'style', 'template', 'noscript', 'head', 'link', 'meta', 'base']);
/** A page of more elements is shown as far as that. */
const mostElements = 15_000;

const rules = `
  :host { display: block; color: #211e19; background: #fff; font: 14px/1.45 system-ui, sans-serif; cursor: pointer; overflow-wrap: anywhere; }
  div { display: block; }
  table { border-collapse: collapse; } td, th { padding: 2px 8px; border: 1px solid #e5dfd3; text-align: left; }
  button { font: inherit; color: inherit; padding: 2px 8px; border: 1px solid #8b8377; border-radius: 4px; background: #f6f3ec; cursor: pointer; }
  .picture { color: #645c50; border: 1px dashed #8b8377; padding: 0 6px; }
  .at { outline: 2px dashed #8a4b0f; outline-offset: 1px; }
  .chosen { outline: 2.5px solid #8a4b0f; outline-offset: 1px; background: #fbecd8; }
`;

interface Props {
  readonly page: Document;
  readonly chosen: readonly Element[];
  readonly onChoose: (element: Element) => void;
}

interface Mirror {
  readonly root: DocumentFragment;
  readonly sourceOf: ReadonlyMap<Element, Element>;
  readonly mirrorOf: ReadonlyMap<Element, HTMLElement>;
}

const wordsOfPicture = (element: Element): string | null => {
  switch (element.localName) {
    case 'img':
      return element.getAttribute('alt') || '▢';
    case 'svg':
    case 'canvas':
    case 'video':
    case 'iframe':
      return `▢ ${element.localName}`;
    case 'input':
      return element.getAttribute('value') || element.getAttribute('placeholder') || '▭';
    default:
      return null;
  }
};

/** Only known names are made, and no attribute is taken over. */
function mirrored(page: Document): Mirror {
  const root = document.createDocumentFragment();
  const [sourceOf, mirrorOf] = [new Map<Element, Element>(), new Map<Element, HTMLElement>()];
  const pending: { readonly from: Node; readonly into: Node }[] = [{ from: page.body, into: root }];
  for (let step = pending.pop(); step !== undefined && sourceOf.size < mostElements; step = pending.pop()) {
    const { from, into } = step;
    if (!(from instanceof Element)) {
      into.appendChild(document.createTextNode(from.nodeValue ?? ''));
      continue;
    }
    const picture = wordsOfPicture(from);
    const made = document.createElement(shown.has(from.localName) ? from.localName : 'span');
    into.appendChild(made);
    sourceOf.set(made, from);
    mirrorOf.set(from, made);
    if (picture !== null) {
      made.className = 'picture';
      made.textContent = picture;
      continue;
    }
    const inside = [...from.childNodes].filter((node) =>
      node instanceof Element ? !unseen.has(node.localName) : node.nodeType === Node.TEXT_NODE,
    );
    for (const node of inside.reverse()) pending.push({ from: node, into: made });
  }
  return { root, sourceOf, mirrorOf };
}

export function PageView({ page, chosen, onChoose }: Props): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const mirror = useRef<Mirror | null>(null);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  useEffect(() => {
    const host = place.current;
    if (host === null) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rules);
    root.adoptedStyleSheets = [sheet];
    const made = mirrored(page);
    mirror.current = made;
    root.replaceChildren(made.root);
    const under = (event: Event): Element | null => {
      const [target] = event.composedPath();
      return target instanceof Element && made.sourceOf.has(target) ? target : null;
    };
    let at: Element | null = null;
    const move = (event: Event): void => {
      at?.classList.remove('at');
      at = under(event);
      at?.classList.add('at');
    };
    const click = (event: Event): void => {
      event.preventDefault();
      const target = under(event);
      const source = target === null ? undefined : made.sourceOf.get(target);
      if (source !== undefined) choose.current(source);
    };
    root.addEventListener('mouseover', move);
    root.addEventListener('mouseout', move);
    root.addEventListener('click', click);
    return () => {
      root.removeEventListener('mouseover', move);
      root.removeEventListener('mouseout', move);
      root.removeEventListener('click', click);
    };
  }, [page]);
  useEffect(() => {
    const marked = chosen.flatMap((element) => mirror.current?.mirrorOf.get(element) ?? []);
    for (const element of marked) element.classList.add('chosen');
    marked[0]?.scrollIntoView({ block: 'nearest' });
    return () => {
      for (const element of marked) element.classList.remove('chosen');
    };
  }, [chosen, page]);
  return <div className="page-view" ref={place} aria-hidden="true" />;
}
