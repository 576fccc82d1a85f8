/** What belongs to the account and to the organisation, part by part. */
import { Suspense, type ReactNode } from 'react';
import { Link, Redirect } from 'wouter';
import { PageSkeleton } from '../frame/page-skeleton.js';
import { useTitle } from '../frame/title.js';
import { WhoMay } from '../session/only-for.js';
import { useMay } from '../session/session.js';
import { useTexts } from '../text/text.js';
import './settings.css';
import { later } from '../frame/later.js';

const You = later(async () => (await import('./you.js')).You);
const Keys = later(async () => (await import('./keys.js')).Keys);
const Members = later(async () => (await import('./members.js')).Members);
const Contacts = later(async () => (await import('./contacts.js')).Contacts);
const Retention = later(async () => (await import('./retention.js')).Retention);
const Usage = later(async () => (await import('./usage.js')).Usage);
const Transfer = later(async () => (await import('./transfer.js')).Transfer);

const parts = [
  { part: 'you', text: 'settings.you', isForAdmins: false, Part: You },
  { part: 'keys', text: 'settings.keys', isForAdmins: true, Part: Keys },
  { part: 'members', text: 'settings.members', isForAdmins: true, Part: Members },
  { part: 'contacts', text: 'settings.contacts', isForAdmins: false, Part: Contacts },
  { part: 'usage', text: 'settings.usage', isForAdmins: false, Part: Usage },
  { part: 'retention', text: 'settings.retention', isForAdmins: false, Part: Retention },
  { part: 'transfer', text: 'settings.transfer', isForAdmins: false, Part: Transfer },
] as const;

export function SettingsPage({ part }: { readonly part: string }): ReactNode {
  const { t } = useTexts();
  useTitle(t('frame.settings'));
  const isAdmin = useMay('admin');
  const shown = parts.filter(({ isForAdmins }) => isAdmin || !isForAdmins);
  const current = parts.find((one) => one.part === part);
  if (current === undefined) return <Redirect to="/settings/you" replace />;
  const { Part } = current;
  return (
    <div className="stack">
      <h1>{t('frame.settings')}</h1>
      <div className="settings-page">
        <nav aria-label={t('frame.settings')}>
          {shown.map((one) => (
            <Link
              key={one.part}
              href={`/settings/${one.part}`}
              className="place"
              aria-current={one.part === part ? 'page' : undefined}
            >
              {t(one.text)}
            </Link>
          ))}
        </nav>
        {shown.includes(current) ? (
          <Suspense fallback={<PageSkeleton />}>
            <Part />
          </Suspense>
        ) : (
          <WhoMay scope="admin" />
        )}
      </div>
    </div>
  );
}
