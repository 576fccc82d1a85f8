/** Views by name, and which columns are shown. */
import { Popover } from '@base-ui/react/popover';
import { ChevronDown } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { TextKey } from '../text/catalogue.js';
import { useTexts } from '../text/text.js';
import { columns, isInSight, savedViews, saveViews, type Column } from './views.js';

export const columnWords = {
  value: 'tasks.value',
  runs: 'tasks.runs',
  lastRun: 'tasks.lastRun',
  lastChange: 'tasks.lastChange',
  next: 'tasks.next',
  tags: 'tasks.tags',
} as const satisfies Readonly<Record<Column, TextKey>>;

export function ViewsMenu(props: {
  readonly search: string;
  readonly shown: readonly Column[];
  readonly onColumns: (shown: readonly Column[]) => void;
}): ReactNode {
  const { t } = useTexts();
  const [, navigate] = useLocation();
  const [views, setViews] = useState(savedViews);
  const [name, setName] = useState('');
  const [isOpen, setOpen] = useState(false);
  const active = views.find((view) => isInSight(view, props.search, props.shown));
  const keep = (next: typeof views): void => {
    saveViews(next);
    setViews(next);
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className="button plain">
        {active === undefined ? t('views.title') : t('views.active', { name: active.name })}{' '}
        <ChevronDown size={14} aria-hidden="true" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="end">
          <Popover.Popup className="menu" aria-label={t('views.title')}>
            {views.map((view) => (
              <div className="bar" key={view.name}>
                <button
                  type="button"
                  className="menu-item grow"
                  aria-pressed={isInSight(view, props.search, props.shown)}
                  onClick={() => {
                    setOpen(false);
                    props.onColumns(view.columns);
                    navigate(`/tasks${view.search}`);
                  }}
                >
                  <bdi>{view.name}</bdi>
                </button>
                <button
                  type="button"
                  className="button plain"
                  aria-label={t('views.remove', { name: view.name })}
                  onClick={() => keep(views.filter((other) => other !== view))}
                >
                  ×
                </button>
              </div>
            ))}
            <form
              className="bar"
              onSubmit={(event) => {
                event.preventDefault();
                if (name.trim() === '') return;
                const others = views.filter((view) => view.name !== name.trim());
                keep([...others, { name: name.trim(), search: props.search, columns: props.shown }]);
                setName('');
              }}
            >
              <input
                className="input grow"
                aria-label={t('views.name')}
                placeholder={t('views.name')}
                maxLength={100}
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
              <button type="submit" className="button" disabled={name.trim() === ''}>
                {t('views.save')}
              </button>
            </form>
            <p className="small muted views-where">{t('views.where')}</p>
            <fieldset className="views-columns">
              <legend className="small muted">{t('views.columns')}</legend>
              {columns.map((column) => (
                <label key={column} className="menu-item">
                  <input
                    type="checkbox"
                    checked={props.shown.includes(column)}
                    onChange={({ target }) =>
                      props.onColumns(
                        columns.filter((one) => (one === column ? target.checked : props.shown.includes(one))),
                      )
                    }
                  />
                  {t(columnWords[column])}
                </label>
              ))}
            </fieldset>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
