/** What stands around every page of somebody who is signed in. */
import { Activity, History, List, Send, Settings } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useScopes, useSession } from '../session/session.js';
import { useConnection } from '../stream/stream.js';
import { useTexts } from '../text/text.js';
import { useNumbers } from '../text/numbers.js';
import { clockTime } from '../text/times.js';
import { useUsage } from './use-usage.js';
import { Meerkat } from './brand.js';
import { CommandPalette } from './command-palette.js';
import { KeyList } from './key-list.js';
import { useFocusInSight } from './focus-in-sight.js';
import { useShortcuts } from './shortcuts.js';
import './frame.css';

const places = [
  { path: '/tasks', keys: 'g t', text: 'frame.tasks', icon: List, scope: 'read' },
  { path: '/executions', keys: 'g r', text: 'frame.runs', icon: Activity, scope: 'read' },
  { path: '/deliveries', keys: 'g d', text: 'frame.deliveries', icon: Send, scope: 'read' },
  { path: '/audit', keys: 'g a', text: 'frame.audit', icon: History, scope: 'admin' },
  { path: '/settings', keys: 'g s', text: 'frame.settings', icon: Settings, scope: 'read' },
] as const;

function ConnectionLine(): ReactNode {
  const { t, locale } = useTexts();
  const { lostAt } = useConnection();
  if (lostAt === null) return null;
  return (
    <p className="connection" role="status">
      {t('frame.notConnected', { since: clockTime(lostAt, Date.now(), locale) })}
    </p>
  );
}

/** What the organisation used of its budget of requests. */
function Budget(): ReactNode {
  const { t } = useTexts();
  const number = useNumbers();
  const { data } = useUsage();
  if (data === undefined) return null;
  return (
    <Link href="/settings/usage" className="budget">
      {t('frame.requests')}
      <span className="num">{t('frame.requestsOf', { used: number(data.used), budget: number(data.budget) })}</span>
      <progress max={data.budget} value={Math.min(data.used, data.budget)} aria-label={t('frame.requests')} />
    </Link>
  );
}

export function Frame({ children }: { readonly children: ReactNode }): ReactNode {
  const { t } = useTexts();
  const { account, organization, role } = useSession();
  const scopes = useScopes();
  const number = useNumbers();
  const taskCount = useUsage().data?.tasks;
  const [path, navigate] = useLocation();
  useFocusInSight();
  const allowed = places.filter(({ scope }) => scopes.includes(scope));
  useShortcuts({
    ...(scopes.includes('write') ? { n: () => navigate('/new') } : {}),
    ...Object.fromEntries(allowed.map((place) => [place.keys, () => navigate(place.path)])),
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
        {allowed.map(({ path: place, text, icon: Icon }) => (
          <Link
            key={place}
            href={place}
            className="place"
            aria-current={path === place || path.startsWith(`${place}/`) ? 'page' : undefined}
          >
            <Icon strokeWidth={1.75} aria-hidden="true" />
            {t(text)}
            {place === '/tasks' && taskCount !== undefined && <span className="count num">{number(taskCount)}</span>}
          </Link>
        ))}
        <div className="foot small muted">
          <Budget />
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
      <KeyList goTo={allowed.map(({ keys }) => keys)} />
    </div>
  );
}
