/** The configuration as a file: taken out, and put in after a look at what it would change. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { problemOf } from '../api/problem.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useToast } from '../frame/toasts.js';
import { useMay } from '../session/session.js';
import { useTexts } from '../text/text.js';

interface PlanEntry {
  readonly externalKey: string | null;
  readonly id: string | null;
  readonly changes?: readonly { readonly path: string }[];
}
type Plan = Readonly<Record<'create' | 'update' | 'unchanged' | 'archive', readonly PlanEntry[]>>;
const steps = ['create', 'update', 'archive', 'unchanged'] as const;

/** YAML and JSON go as they were typed: the server reads both. */
async function apply(
  text: string,
  options: { readonly dryRun: boolean; readonly archiveMissing: boolean },
): Promise<Plan> {
  const isJson = text.trimStart().startsWith('{');
  const query = new URLSearchParams({ dryRun: String(options.dryRun), archiveMissing: String(options.archiveMissing) });
  const response = await fetch(`/api/apply?${query.toString()}`, {
    method: 'PUT',
    credentials: 'same-origin',
    headers: { 'content-type': isJson ? 'application/json' : 'application/yaml' },
    body: text,
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw await problemOf(response.status, body, response.headers.get('retry-after'));
  return (body as { readonly data: Plan }).data;
}

/** As YAML: the bare document, which the import, the API and the command line take as it is. */
async function saveExport(): Promise<void> {
  const response = await fetch('/api/export', { credentials: 'same-origin', headers: { accept: 'application/yaml' } });
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => null);
    throw await problemOf(response.status, body, response.headers.get('retry-after'));
  }
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = 'meerkat.yaml';
  link.click();
  URL.revokeObjectURL(address);
}

export function Transfer(): ReactNode {
  const { t } = useTexts();
  const toast = useToast();
  const client = useQueryClient();
  const mayWrite = useMay('write');
  const [text, setText] = useState('');
  const [archiveMissing, setArchiveMissing] = useState(false);
  const download = useMutation({ mutationFn: saveExport });
  const plan = useMutation({ mutationFn: () => apply(text, { dryRun: true, archiveMissing }) });
  const put = useMutation({
    mutationFn: () => apply(text, { dryRun: false, archiveMissing }),
    onSuccess: (done) => {
      void client.invalidateQueries();
      plan.reset();
      toast(
        t('transfer.done', { create: done.create.length, update: done.update.length, archive: done.archive.length }),
      );
    },
  });
  return (
    <div className="stack">
      <section className="card">
        <header>
          <h2>{t('transfer.export')}</h2>
        </header>
        <div className="in stack">
          <p className="muted">{t('transfer.exportWhat')}</p>
          <p>
            <button type="button" className="button" disabled={download.isPending} onClick={() => download.mutate()}>
              {t('transfer.download')}
            </button>
          </p>
          {download.error !== null && <ProblemNotice error={download.error} />}
        </div>
      </section>
      <section className="card">
        <header>
          <h2>{t('transfer.import')}</h2>
        </header>
        <div className="in stack">
          <p className="muted">{t('transfer.importWhat')}</p>
          <div className="bar">
            <label htmlFor="transfer-file">{t('transfer.file')}</label>
            <input
              id="transfer-file"
              type="file"
              accept=".json,.yaml,.yml"
              onChange={({ target }) => {
                void target.files?.[0]?.text().then((content) => {
                  setText(content);
                  plan.reset();
                });
              }}
            />
          </div>
          <textarea
            className="input mono"
            rows={10}
            aria-label={t('transfer.text')}
            value={text}
            onChange={({ target }) => {
              setText(target.value);
              plan.reset();
            }}
          />
          <label className="bar">
            <input
              type="checkbox"
              checked={archiveMissing}
              onChange={({ target }) => {
                setArchiveMissing(target.checked);
                plan.reset();
              }}
            />
            {t('transfer.archiveMissing')}
          </label>
          {(plan.error ?? put.error) !== null && <ProblemNotice error={plan.error ?? put.error} />}
          {plan.data !== undefined && (
            <div className="notice stack" role="status">
              {steps.map((step) => (
                <div key={step}>
                  <b>{t(`transfer.${step}`, { count: plan.data[step].length })}</b>{' '}
                  {step !== 'unchanged' && (
                    <span className="muted">
                      {plan.data[step]
                        .slice(0, 20)
                        .map(({ externalKey, id, changes }) =>
                          [externalKey ?? id ?? '', changes?.map(({ path }) => path).join(', ')]
                            .filter(Boolean)
                            .join(': '),
                        )
                        .join(' · ')}
                    </span>
                  )}
                </div>
              ))}
            </div>
          )}
          <p className="bar">
            <button
              type="button"
              className="button"
              disabled={!mayWrite || text.trim() === '' || plan.isPending}
              onClick={() => plan.mutate()}
            >
              {t('transfer.plan')}
            </button>
            <button
              type="button"
              className="button main"
              disabled={!mayWrite || plan.data === undefined || put.isPending}
              onClick={() => put.mutate()}
            >
              {t('transfer.apply')}
            </button>
          </p>
        </div>
      </section>
    </div>
  );
}
