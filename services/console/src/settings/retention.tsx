/** How far back the record goes, by day: in full, or folded into figures; and where the operator sets it. */
import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { api, dataOf } from '../api/client.js';
import { DataTable } from '../frame/data-table.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTexts } from '../text/text.js';
import { useNumbers } from '../text/numbers.js';
import { dayOf } from '../text/times.js';

const dayMs = 86_400_000;
const daysBack = 120;
/** What the operator's settings decide, under the names that the operator knows. */
const settings = [
  ['KEEP_RUNS_DAYS', 'retention.runs'],
  ['KEEP_DELIVERIES_DAYS', 'retention.deliveries'],
  ['SNAPSHOT_KEEP_DAYS', 'retention.pages'],
  ['SNAPSHOT_KEEP_COUNT', 'retention.pagesOfTask'],
] as const;

export function Retention(): ReactNode {
  const { t, locale } = useTexts();
  const number = useNumbers();
  const from = useMemo(() => new Date(Math.floor(Date.now() / dayMs) * dayMs - daysBack * dayMs).toISOString(), []);
  const stats = useQuery({
    queryKey: ['stats', 'days', from],
    queryFn: () => dataOf(api.GET('/api/stats', { params: { query: { from, bucket: 'day' } } })),
  });
  const days = (stats.data?.buckets ?? []).filter(({ runs, skipped, missed }) => runs + skipped + missed > 0).reverse();
  const folded = days.filter((day) => day.folded).length;
  return (
    <div className="stack">
      <section className="card">
        <header>
          <h2>{t('settings.retention')}</h2>
        </header>
        <div className="in stack">
          <p className="muted">{t('retention.what')}</p>
          <dl className="settings">
            {settings.map(([name, what]) => (
              <div key={name}>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd>{t(what)}</dd>
              </div>
            ))}
          </dl>
          <p className="muted">
            {t('retention.disk')} <code>meerkat disk</code>
          </p>
        </div>
      </section>
      {stats.error !== null && <ProblemNotice error={stats.error} onRetry={() => void stats.refetch()} />}
      {stats.isSuccess && (
        <p role="status">{t('retention.days', { full: number(days.length - folded), folded: number(folded) })}</p>
      )}
      <DataTable
        label={t('retention.byDay')}
        heads={[
          t('retention.day'),
          t('frame.runs'),
          t('strip.failed'),
          t('strip.skipped'),
          t('retention.notified'),
          t('retention.record'),
        ]}
        none={days.length === 0 && stats.isSuccess ? t('runs.none') : null}
      >
        {days.map((day) => (
          <tr key={day.from}>
            <td className="num">{dayOf(day.from, locale)}</td>
            <td className="num">{number(day.runs)}</td>
            <td className="num">{number(day.failed)}</td>
            <td className="num">{number(day.skipped + day.missed)}</td>
            <td className="num">{number(day.notified)}</td>
            <td>{t(day.folded ? 'retention.folded' : 'retention.full')}</td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}
