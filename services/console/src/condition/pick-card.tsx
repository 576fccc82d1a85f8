/** The page of a task that stands, to click on: the condition is about what was clicked, or the code is given its selector. */
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { answerOf, api } from '../api/client.js';
import { isProblem } from '../api/problem.js';
import type { BrowserStep, Task } from '../api/types.js';
import { CopyField } from '../frame/copy-field.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import type { Condition } from '../new/condition.js';
import { chosenIn, withElement, withSelector } from '../new/picked.js';
import { Picker, type Pick } from '../new/picker.js';
import { loadPreview, type PagePreview } from '../new/preview-query.js';
import { StepsLine } from '../new/steps-line.js';
import { useTexts } from '../text/text.js';
import { ServerFault } from '../text/server-sentence.js';

type Fetch = Task['fetch'];

interface Shown {
  readonly preview: PagePreview;
  /** Of a run, where the page cannot be loaded without secrets that nobody is shown. */
  readonly isRecorded: boolean;
}

/** So many runs are looked through for one with a page. */
const lookedThrough = 50;

/** Null: no run has kept its page. */
async function lastPageOf(id: string): Promise<PagePreview | null> {
  const { data } = await answerOf(
    api.GET('/api/notifications/{id}/executions', {
      params: { path: { id }, query: { limit: lookedThrough, after: '' } as never },
    }),
  );
  const run = data.find(({ snapshotId }) => snapshotId !== null);
  if (run === undefined) return null;
  const response = await fetch(`/api/executions/${run.id}/snapshot`, { credentials: 'same-origin' });
  if (!response.ok) return null;
  return { page: null, document: await response.text(), screenshot: null, elements: [], error: null };
}

const needsSecrets = (error: unknown): boolean => isProblem(error) && error.reason === 'secret_required';

function usePage({ id, url }: Task) {
  return useMutation({
    mutationFn: async (settings: Fetch): Promise<Shown | null> => {
      try {
        return { preview: await loadPreview({ url, fetch: settings }), isRecorded: false };
      } catch (error) {
        if (!needsSecrets(error)) throw error;
        const recorded = await lastPageOf(id);
        return recorded === null ? null : { preview: recorded, isRecorded: true };
      }
    },
  });
}

const stepsOf = ({ mode, browser }: Fetch): readonly BrowserStep[] =>
  mode === 'browser' ? (browser?.steps ?? []) : [];

export function PickCard(props: {
  readonly task: Task;
  readonly settings: Fetch;
  readonly condition: Condition | null;
  readonly onCondition: (condition: Condition) => void;
  readonly onSettings: (settings: Fetch) => void;
}): ReactNode {
  const { t } = useTexts();
  const { task, settings, condition, onCondition } = props;
  const page = usePage(task);
  const [picked, setPicked] = useState<string | null>(null);
  const change = (steps: readonly BrowserStep[]): void => {
    const next = { ...settings, mode: 'browser', browser: { ...settings.browser, steps: [...steps] } } as Fetch;
    props.onSettings(next);
    page.mutate(next);
  };
  const choose = (pick: Pick): void => {
    if (condition === null) setPicked(pick.selector);
    else onCondition(withElement(condition, pick));
  };
  const { data, error, isPending } = page;
  const isOpen = data !== undefined || error !== null || isPending;
  return (
    <div className="stack">
      <p className="bar">
        <button
          type="button"
          className="button"
          aria-expanded={isOpen}
          disabled={isPending}
          onClick={() => (isOpen ? page.reset() : page.mutate(settings))}
        >
          {t(isPending ? 'new.loading' : isOpen ? 'pick.close' : 'pick.open')}
        </button>
      </p>
      {isOpen && <StepsLine steps={stepsOf(settings)} onChange={change} />}
      {error !== null && <ProblemNotice error={error} onRetry={() => page.mutate(settings)} />}
      {data === null && <p className="notice warn">{t('pick.noneRecorded')}</p>}
      {data?.preview.error != null && (
        <p className="notice bad" role="alert">
          <ServerFault fault={data.preview.error} />
        </p>
      )}
      {data?.isRecorded === true && <p className="notice">{t('pick.recorded')}</p>}
      {data != null && data.preview.document !== null && (
        <Picker
          key={page.submittedAt}
          preview={data.preview}
          chosen={condition === null ? picked : chosenIn(condition)}
          onChoose={choose}
          onSelector={(selector, isList) => {
            const next = withSelector(condition, selector, isList);
            if (next !== null) onCondition(next);
            else setPicked(selector);
          }}
          onClickFirst={(selector) => change([...stepsOf(settings), { do: 'click', selector }])}
        />
      )}
      {condition === null && picked !== null && <CopyField label={t('pick.forCode')} value={picked} />}
    </div>
  );
}
