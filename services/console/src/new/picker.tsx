/** What matters on the page: chosen on its picture where it was rendered, or from the list of its elements. */
import { useMemo, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import type { PagePreview, PickedElement } from './preview-query.js';
import './new.css';

interface Props {
  readonly preview: PagePreview;
  readonly chosen: string | null;
  readonly onChoose: (element: PickedElement) => void;
}

type View = 'picture' | 'elements' | 'page';

/** Boxes as shares of the picture, the smallest on top: what is inside can be chosen, too. */
function Picture({ preview, chosen, onChoose }: Props): ReactNode {
  const [size, setSize] = useState<{ readonly width: number; readonly height: number } | null>(null);
  const boxed = useMemo(
    () =>
      preview.elements
        .flatMap((element) => (element.box === null ? [] : [{ element, box: element.box }]))
        .sort((one, other) => other.box.width * other.box.height - one.box.width * one.box.height),
    [preview],
  );
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
            data-chosen={element.selector === chosen ? '' : undefined}
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
function Elements({ preview, chosen, onChoose }: Props): ReactNode {
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

/** The document as the code would see it; it runs nothing. */
function PageText({ preview }: { readonly preview: PagePreview }): ReactNode {
  const { t } = useTexts();
  return (
    <pre className="page-source" tabIndex={0} aria-label={t('new.page')}>
      {preview.document}
    </pre>
  );
}

export function Picker(props: Props): ReactNode {
  const { t } = useTexts();
  const hasPicture = props.preview.screenshot !== null;
  const [view, setView] = useState<View>(hasPicture ? 'picture' : 'elements');
  const views: readonly View[] = hasPicture ? ['picture', 'elements', 'page'] : ['elements', 'page'];
  return (
    <section className="card" aria-label={t('new.pick')}>
      <header>
        <h2>{t('new.pick')}</h2>
        <span className="grow" />
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
        {view === 'picture' && <Picture {...props} />}
        {view === 'elements' && <Elements {...props} />}
        {view === 'page' && <PageText preview={props.preview} />}
      </div>
      {props.chosen !== null && (
        <p className="verdict">
          <code>{props.chosen}</code>
        </p>
      )}
    </section>
  );
}
