/** The budget of requests and what the organisation does. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, dataOf } from '../api/client.js';
import { useUsage } from '../frame/use-usage.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useToast } from '../frame/toasts.js';
import { sessionKey, useMay, useSession } from '../session/session.js';
import { RelativeTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { useNumbers } from '../text/numbers.js';

function OrganizationName(): ReactNode {
  const { t } = useTexts();
  const { organization } = useSession();
  const client = useQueryClient();
  const toast = useToast();
  const isAdmin = useMay('admin');
  const [name, setName] = useState(organization.name);
  const rename = useMutation({
    mutationFn: () => dataOf(api.PATCH('/api/organization', { body: { name } })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: sessionKey });
      toast(t('usage.renamed'));
    },
  });
  return (
    <form
      className="bar"
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate();
      }}
    >
      <label htmlFor="organization">{t('setup.organization')}</label>
      <input
        id="organization"
        className="input grow"
        maxLength={200}
        required
        disabled={!isAdmin}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <button type="submit" className="button" disabled={!isAdmin || rename.isPending || name === organization.name}>
        {t('frame.save')}
      </button>
      {rename.error !== null && <ProblemNotice error={rename.error} />}
    </form>
  );
}

export function Usage(): ReactNode {
  const { t } = useTexts();
  const number = useNumbers();
  const { organization } = useSession();
  const usage = useUsage();
  const stats = useQuery({ queryKey: ['stats'], queryFn: () => dataOf(api.GET('/api/stats')) });
  const { data } = usage;
  return (
    <div className="stack">
      <section className="card">
        <header>
          <h2>{t('settings.usage')}</h2>
          <span className="tag">{organization.plan}</span>
        </header>
        <div className="in stack">
          <OrganizationName />
          {usage.error !== null && <ProblemNotice error={usage.error} onRetry={() => void usage.refetch()} />}
          {data !== undefined && (
            <>
              <p>
                {t('usage.requests', { used: number(data.used), budget: number(data.budget) })}{' '}
                {data.resetsAt !== null && (
                  <span className="muted">
                    · {t('usage.resets')} <RelativeTime at={data.resetsAt} />
                  </span>
                )}
              </p>
              <meter
                className="meter"
                min={0}
                max={data.budget}
                value={data.used}
                aria-label={t('usage.requests', { used: number(data.used), budget: number(data.budget) })}
              />
              <p className="muted">
                {t('usage.last24h', {
                  tasks: number(data.tasks),
                  executions: number(data.executions),
                  deliveries: number(data.deliveries),
                })}
              </p>
            </>
          )}
          {stats.data !== undefined && (
            <p className="muted">
              {t('usage.runs', {
                succeeded: number(stats.data.summary.succeeded),
                failed: number(stats.data.summary.failed),
                skipped: number(stats.data.summary.skipped),
                missed: number(stats.data.summary.missed),
              })}
            </p>
          )}
        </div>
      </section>
    </div>
  );
}
