/** What stands around every page of somebody who is signed in. */
import { Activity, History, List, Send, Settings } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useSession } from '../session/session.js';
import { useConnection } from '../stream/stream.js';
import { useTexts } from '../text/text.js';
import { clockTime } from '../text/times.js';
import { Meerkat } from './brand.js';
import { CommandPalette } from './command-palette.js';
import { KeyList } from './key-list.js';
import { useShortcuts } from './shortcuts.js';
import './frame.css';

const places = [
  { path: '/tasks', text: 'frame.tasks', icon: List },
  { path: '/executions', text: 'frame.runs', icon: Activity },
  { path: '/deliveries', text: 'frame.deliveries', icon: Send },
  { path: '/audit', text: 'frame.audit', icon: History },
  { path: '/settings', text: 'frame.settings', icon: Settings },
] as const;

function ConnectionLine(): ReactNode {
  const { t, language } = useTexts();
  const { lostAt } = useConnection();
  if (lostAt === null) return null;
  return (
    <p className="connection" role="status">
      {t('frame.notConnected', { since: clockTime(lostAt, Date.now(), language) })}
    </p>
  );
}

export function Frame({ children }: { readonly children: ReactNode }): ReactNode {
  const { t } = useTexts();
  const { account, organization, role } = useSession();
  const [path, navigate] = useLocation();
  useShortcuts({
    n: () => navigate('/new'),
    'g t': () => navigate('/tasks'),
    'g r': () => navigate('/executions'),
    'g d': () => navigate('/deliveries'),
    'g a': () => navigate('/audit'),
    'g s': () => navigate('/settings'),
  });
  return (
    <div className="frame">
      <a className="skip-link" href="#room">
        {t('frame.skip')}
      </a>
      <nav className="rail" aria-label={t('frame.main')}>
        <Link href="/tasks" className="brand">
          <Meerkat />
          Meerkat
        </Link>
        {places.map(({ path: place, text, icon: Icon }) => (
          <Link
            key={place}
            href={place}
            className="place"
            aria-current={path === place || path.startsWith(`${place}/`) ? 'page' : undefined}
          >
            <Icon strokeWidth={1.75} aria-hidden="true" />
            {t(text)}
          </Link>
        ))}
        <div className="foot small muted">
          <Link href="/settings/you">
            {organization.name} · {t(`role.${role}`)}
          </Link>
          <span className="ellipsis" title={account.email}>
            {account.email}
          </span>
        </div>
      </nav>
      <main className="room" id="room" tabIndex={-1}>
        <ConnectionLine />
        {children}
      </main>
      <CommandPalette />
      <KeyList />
    </div>
  );
}
