/** What matters on the page: chosen on its picture where it was rendered, on its words, or from the list of its elements. */
import { useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { inertPageOf } from './inert-page.js';
import { PageSource } from './page-source.js';
import { PageView } from './page-view.js';
import type { PagePreview, PickedElement } from './preview-query.js';
import { candidatesOf, likeThis, matchesOf, narrowerOf, secondOf, wayOf, withAlso } from './selectors.js';
import './new.css';

export interface Pick {
  readonly selector: string;
  readonly text: string;
  /** How many alike stand together with it, itself included. */
  readonly inList: number;
}

interface Props {
  readonly preview: PagePreview;
  readonly chosen: string | null;
  readonly onChoose: (pick: Pick) => void;
  /** Another selector for the same condition; `isList`: of several elements. */
  readonly onSelector: (selector: string, isList: boolean) => void;
  /** What stands in the way of the page, such as a wall of cookies, is clicked away before it is read. */
  readonly onClickFirst: (selector: string) => void;
}

interface ViewProps {
  readonly preview: PagePreview;
  readonly chosen: string | null;
  readonly page: Document;
  readonly matches: readonly Element[];
  readonly onChoose: (element: PickedElement) => void;
}

type View = 'picture' | 'elements' | 'page' | 'source';

/** Boxes as shares of the picture, the smallest on top: what is inside can be chosen, too. */
function Picture({ preview, page, matches, onChoose }: ViewProps): ReactNode {
  const [size, setSize] = useState<{ readonly width: number; readonly height: number } | null>(null);
  const boxed = useMemo(
    () =>
      preview.elements
        .flatMap((element) => (element.box === null ? [] : [{ element, box: element.box }]))
        .sort((one, other) => other.box.width * other.box.height - one.box.width * one.box.height),
    [preview],
  );
  const chosenSelectors = useMemo(() => {
    const isMatch = new Set(matches);
    const found = preview.elements.filter(({ selector }) => {
      const element = matchesOf(page, selector)?.[0];
      return element !== undefined && isMatch.has(element);
    });
    return new Set(found.map(({ selector }) => selector));
  }, [preview, page, matches]);
  if (preview.screenshot === null) return null;
  return (
    <div className="picture">
      <img
        src={preview.screenshot}
        alt=""
        onLoad={({ currentTarget }) =>
          setSize({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight })
        }
      />
      {size !== null &&
        boxed.map(({ element, box }) => (
          <button
            key={element.selector}
            type="button"
            className="box"
            tabIndex={-1}
            aria-label={`${element.name ?? element.text} ${element.selector}`}
            data-chosen={chosenSelectors.has(element.selector) ? '' : undefined}
            style={{
              left: `${(box.x / size.width) * 100}%`,
              top: `${(box.y / size.height) * 100}%`,
              width: `${(box.width / size.width) * 100}%`,
              height: `${(box.height / size.height) * 100}%`,
            }}
            onClick={() => onChoose(element)}
          />
        ))}
    </div>
  );
}

const mostShown = 400;

/** The same by the keyboard: a list that is searched as one types and walked by the arrow keys. */
function Elements({ preview, chosen, onChoose }: ViewProps): ReactNode {
  const { t } = useTexts();
  const [wanted, setWanted] = useState('');
  const [at, setAt] = useState(0);
  const found = useMemo(() => {
    const lower = wanted.trim().toLowerCase();
    return preview.elements
      .filter(({ text, name, selector }) => `${text} ${name ?? ''} ${selector}`.toLowerCase().includes(lower))
      .slice(0, mostShown);
  }, [preview, wanted]);
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, at + step)));
    }
    const element = found[at];
    if (event.key === 'Enter' && element !== undefined) {
      event.preventDefault();
      onChoose(element);
    }
  };
  return (
    <div className="stack">
      <input
        className="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="elements"
        aria-activedescendant={found[at] === undefined ? undefined : `element-${at}`}
        aria-label={t('new.findElement')}
        placeholder={t('new.findElement')}
        value={wanted}
        onKeyDown={press}
        onChange={({ target }) => {
          setWanted(target.value);
          setAt(0);
        }}
      />
      <div className="elements" role="listbox" id="elements" aria-label={t('new.elements')} tabIndex={0}>
        {found.map((element, index) => (
          <div
            key={element.selector}
            id={`element-${index}`}
            role="option"
            aria-selected={element.selector === chosen}
            data-at={index === at ? '' : undefined}
            className="element"
            onClick={() => onChoose(element)}
          >
            <span className="ellipsis">{element.text === '' ? (element.name ?? '–') : element.text}</span>
            <code className="small muted ellipsis">{element.selector}</code>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="muted">{t('new.noElement')}</p>}
    </div>
  );
}

/** What the chosen selector finds, and the steps from there: to the parent and back, to all that are alike, to more or fewer. */
function ChosenLine(props: {
  readonly page: Document;
  readonly selector: string;
  readonly matches: readonly Element[] | null;
  readonly isAlso: boolean;
  readonly onAlso: (isAlso: boolean) => void;
  readonly onSelector: (selector: string, isList: boolean) => void;
}): ReactNode {
  const { t } = useTexts();
  const { page, selector, matches, onSelector } = props;
  const from = useRef<Element | null>(null);
  const [first] = matches ?? [];
  const go = (element: Element | null | undefined): void => {
    const own = element === null || element === undefined ? undefined : candidatesOf(page, element)[0];
    if (own !== undefined) onSelector(own.selector, false);
  };
  const second = useMemo(
    () => (first === undefined || matches?.length !== 1 ? null : secondOf(page, first, selector)),
    [page, first, matches, selector],
  );
  const alike = useMemo(() => (first === undefined ? null : likeThis(page, first)), [page, first]);
  const parent = first?.parentElement ?? null;
  const narrower = from.current !== null && first?.contains(from.current) === true ? from.current : undefined;
  return (
    <div className="verdict bar" role="status">
      <code className="ellipsis chosen-selector">{selector}</code>
      <span className="tag">{matches === null ? t('pick.invalid') : t('pick.matches', { count: matches.length })}</span>
      {first !== undefined && <span className="tag">{t(`pick.way.${wayOf(selector)}`)}</span>}
      <span className="grow" />
      <button
        type="button"
        className="button plain"
        disabled={parent === null || parent.localName === 'html'}
        onClick={() => {
          from.current = first ?? null;
          go(parent);
        }}
      >
        ▴ {t('pick.wider')}
      </button>
      <button
        type="button"
        className="button plain"
        disabled={first === undefined || first.children.length === 0}
        onClick={() => {
          if (first === undefined) return;
          const inside = narrower === undefined || narrower === first ? narrowerOf(first) : narrower;
          go(inside);
        }}
      >
        ▾ {t('pick.narrower')}
      </button>
      <button
        type="button"
        className="button plain"
        disabled={alike === null || alike === selector}
        onClick={() => alike !== null && onSelector(alike, true)}
      >
        {t('pick.alike')}
      </button>
      <button
        type="button"
        className="button plain"
        aria-pressed={props.isAlso}
        title={t('pick.alsoWhat')}
        onClick={() => props.onAlso(!props.isAlso)}
      >
        {t('pick.also')}
      </button>
      {second !== null && (
        <p className="small muted second-selector">
          {t('pick.second', { way: t(`pick.way.${second.way}`) })} <code>{second.selector}</code>{' '}
          <button type="button" className="moment" onClick={() => onSelector(second.selector, false)}>
            {t('pick.useSecond')}
          </button>
        </p>
      )}
    </div>
  );
}

export function Picker({ preview: given, chosen, onChoose, onSelector, onClickFirst }: Props): ReactNode {
  const { t } = useTexts();
  const views: readonly View[] =
    given.screenshot === null ? ['page', 'elements', 'source'] : ['picture', 'page', 'elements', 'source'];
  const [view, setView] = useState<View>(views[0] ?? 'page');
  const [isAlso, setAlso] = useState(false);
  const [isFirst, setFirst] = useState(false);
  const page = useMemo(() => inertPageOf(given.document ?? ''), [given.document]);
  const preview = useMemo(
    () => (given.elements.length > 0 ? given : { ...given, elements: elementsOf(page) }),
    [given, page],
  );
  const matches = useMemo(() => (chosen === null ? [] : matchesOf(page, chosen)), [page, chosen]);
  const listed = useMemo(
    () => new Map(preview.elements.map((one) => [matchesOf(page, one.selector)?.[0], one] as const)),
    [page, preview],
  );
  const pick = (element: Element): void => {
    const known = listed.get(element);
    const own = known?.selector ?? candidatesOf(page, element)[0]?.selector;
    if (isFirst) {
      setFirst(false);
      if (own !== undefined) onClickFirst(own);
      return;
    }
    if (isAlso && chosen !== null) {
      const next = withAlso(page, chosen, element);
      if (next !== null) onSelector(next, true);
      return;
    }
    if (own === undefined) return;
    onChoose({ selector: own, text: known?.text ?? element.textContent, inList: siblingsLike(element) });
  };
  const pickListed = (element: PickedElement): void => {
    const source = matchesOf(page, element.selector)?.[0];
    if (source !== undefined) pick(source);
    else if (isFirst) onClickFirst(element.selector);
    else onChoose({ selector: element.selector, text: element.text, inList: 1 });
  };
  const shared = { preview, chosen, matches: matches ?? [], page, onChoose: pickListed };
  return (
    <section className="card" aria-label={t('new.pick')}>
      <header>
        <h2>{t(isFirst ? 'pick.whatFirst' : 'new.pick')}</h2>
        <span className="grow" />
        <button
          type="button"
          className="button plain"
          aria-pressed={isFirst}
          title={t('pick.firstWhat')}
          onClick={() => setFirst(!isFirst)}
        >
          {t('pick.first')}
        </button>
        {views.map((one) => (
          <button
            key={one}
            type="button"
            className="button plain"
            aria-pressed={one === view}
            onClick={() => setView(one)}
          >
            {t(`new.view.${one}`)}
          </button>
        ))}
      </header>
      <div className="in">
        {view === 'picture' && <Picture {...shared} />}
        {view === 'page' && <PageView page={page} chosen={matches ?? []} onChoose={pick} />}
        {view === 'elements' && <Elements {...shared} />}
        {view === 'source' && <PageSource preview={preview} />}
      </div>
      {chosen !== null && (
        <ChosenLine
          page={page}
          selector={chosen}
          matches={matches}
          isAlso={isAlso}
          onAlso={setAlso}
          onSelector={onSelector}
        />
      )}
    </section>
  );
}

/** Those with words of their own, of a page that came without a list. */
function elementsOf(page: Document): readonly PickedElement[] {
  const worded = [...page.body.querySelectorAll('*')].filter((element) =>
    [...element.childNodes].some(({ nodeType, nodeValue }) => nodeType === Node.TEXT_NODE && nodeValue?.trim() !== ''),
  );
  return worded.slice(0, mostShown).flatMap((element) => {
    const [own] = candidatesOf(page, element);
    const text = element.textContent.replace(/\s+/g, ' ').trim().slice(0, 200);
    return own === undefined ? [] : [{ selector: own.selector, text, role: null, name: null, box: null }];
  });
}

/** How many of its kind stand beside it, or beside the item of a list that it is in. */
function siblingsLike(element: Element): number {
  const item = element.closest('li, tr, article, option, dd') ?? element;
  return [...(item.parentElement?.children ?? [])].filter(({ localName }) => localName === item.localName).length;
}
