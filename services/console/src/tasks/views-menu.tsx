/** Views by name, and which columns are shown. */
import { Menu } from '@base-ui/react/menu';
import { ChevronDown } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { TextKey } from '../text/catalogue.js';
import { useTexts } from '../text/text.js';
import { columns, savedViews, saveViews, type Column } from './views.js';

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
  const keep = (next: typeof views): void => {
    saveViews(next);
    setViews(next);
  };
  return (
    <Menu.Root>
      <Menu.Trigger className="button plain">
        {t('views.title')} <ChevronDown size={14} aria-hidden="true" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end">
          <Menu.Popup className="menu">
            {views.map((view) => (
              <div className="bar" key={view.name}>
                <Menu.Item
                  className="menu-item grow"
                  onClick={() => {
                    props.onColumns(view.columns);
                    navigate(`/tasks${view.search}`);
                  }}
                >
                  {view.name}
                </Menu.Item>
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
                value={name}
                onKeyDown={(event) => event.stopPropagation()}
                onChange={({ target }) => setName(target.value)}
              />
              <button type="submit" className="button" disabled={name.trim() === ''}>
                {t('views.save')}
              </button>
            </form>
            <p className="small muted views-where">{t('views.where')}</p>
            <Menu.Separator />
            <Menu.Group>
              <Menu.GroupLabel className="small muted">{t('views.columns')}</Menu.GroupLabel>
              {columns.map((column) => (
                <Menu.CheckboxItem
                  key={column}
                  className="menu-item"
                  checked={props.shown.includes(column)}
                  onCheckedChange={(isShown) =>
                    props.onColumns(columns.filter((one) => (one === column ? isShown : props.shown.includes(one))))
                  }
                >
                  <span aria-hidden="true" style={{ width: '1rem' }}>
                    <Menu.CheckboxItemIndicator>✓</Menu.CheckboxItemIndicator>
                  </span>
                  {t(columnWords[column])}
                </Menu.CheckboxItem>
              ))}
            </Menu.Group>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
