/** Ctrl-K: every place and every task by name. */
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { answerOf, api } from '../api/client.js';
import { stateOf } from '../marks/state.js';
import { StateMark } from '../marks/state-mark.js';
import { useScopes, type Scope } from '../session/session.js';
import type { TextKey } from '../text/catalogue.js';
import { useTexts } from '../text/text.js';

/** `scope`: it leads nowhere for a role without it. */
const commands: readonly { readonly text: TextKey; readonly path: string; readonly scope?: Scope }[] = [
  { text: 'command.newTask', path: '/new', scope: 'write' },
  { text: 'frame.tasks', path: '/tasks' },
  { text: 'frame.runs', path: '/executions' },
  { text: 'frame.deliveries', path: '/deliveries' },
  { text: 'frame.audit', path: '/audit', scope: 'admin' },
  { text: 'command.keys', path: '/settings/keys', scope: 'admin' },
  { text: 'command.members', path: '/settings/members', scope: 'admin' },
  { text: 'command.contacts', path: '/settings/contacts' },
  { text: 'command.you', path: '/settings/you' },
];
const shownTasks = 8;

export function CommandPalette(): ReactNode {
  const { t } = useTexts();
  const [, navigate] = useLocation();
  const scopes = useScopes();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const q = useDeferredValue(typed.trim());
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setTyped('');
      setAt(0);
      setOpen(true);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
  const tasks = useQuery({
    queryKey: ['palette', q],
    enabled: isOpen && q !== '',
    queryFn: () => answerOf(api.GET('/api/notifications', { params: { query: { q, limit: shownTasks } } })),
  });
  const wanted = q.toLowerCase();
  const found = [
    ...commands
      .filter(({ scope = 'read' }) => scopes.includes(scope))
      .filter(({ text }) => t(text).toLowerCase().includes(wanted))
      .map(({ text, path }) => ({ path, label: t(text), task: null })),
    ...(tasks.data?.data ?? []).map((task) => ({ path: `/tasks/${task.id}`, label: task.name, task })),
  ];
  const go = (path: string): void => {
    setOpen(false);
    navigate(path);
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((found.length + at + step) % Math.max(1, found.length));
    }
    const chosen = found[at];
    if (event.key === 'Enter' && chosen !== undefined) go(chosen.path);
  };
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className="dialog-back" />
        <Dialog.Popup className="dialog">
          <Dialog.Title className="visually-hidden">{t('command.title')}</Dialog.Title>
          <input
            className="input"
            role="combobox"
            aria-expanded="true"
            aria-controls="commands"
            aria-activedescendant={found[at] === undefined ? undefined : `command-${at}`}
            placeholder={t('command.placeholder')}
            aria-label={t('command.title')}
            value={typed}
            onKeyDown={press}
            onChange={({ target }) => {
              setTyped(target.value);
              setAt(0);
            }}
          />
          <div role="listbox" id="commands" aria-label={t('command.title')}>
            {found.map(({ path, label, task }, index) => (
              <div
                key={path}
                id={`command-${index}`}
                role="option"
                aria-selected={index === at}
                className="menu-item"
                data-highlighted={index === at ? '' : undefined}
                onClick={() => go(path)}
              >
                <span className="grow ellipsis">{label}</span>
                {task !== null && <StateMark state={stateOf(task)} />}
              </div>
            ))}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
