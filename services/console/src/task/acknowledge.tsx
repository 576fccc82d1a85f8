/** What is open on a task, and who has taken it on: reminders and escalations stay away until it ends, or for a time. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, dataOf } from '../api/client.js';
import type { Task } from '../api/types.js';
import { FormDialog } from '../frame/form-dialog.js';
import { SelectField, TextField } from '../frame/labelled.js';
import { useToast } from '../frame/toasts.js';
import { Actor } from '../session/actors.js';
import { useMay } from '../session/session.js';
import { AbsoluteTime, RelativeTime } from '../text/time.js';
import { useTexts } from '../text/text.js';
import { taskKey } from './task-query.js';

const spans = { untilOver: null, hour: 3_600_000, fourHours: 14_400_000, day: 86_400_000, week: 604_800_000 } as const;
type Span = keyof typeof spans;

/** A condition that is met, or a check that broke: something that goes on until it ends. */
export const hasOpenEpisode = ({ condition, health, status }: Task): boolean =>
  status === 'active' && (condition === 'true' || condition === 'flapping' || health === 'error');

export function AcknowledgeButton({ task }: { readonly task: Task }): ReactNode {
  const { t } = useTexts();
  const toast = useToast();
  const client = useQueryClient();
  const may = useMay('write');
  const [isOpen, setOpen] = useState(false);
  const [note, setNote] = useState('');
  const [span, setSpan] = useState<Span>('untilOver');
  const acknowledge = useMutation({
    mutationFn: () => {
      const length = spans[span];
      return dataOf(
        api.POST('/api/notifications/{id}/acknowledge', {
          params: { path: { id: task.id } },
          body: {
            ...(note.trim() !== '' && { note: note.trim() }),
            ...(length !== null && { until: new Date(Date.now() + length).toISOString() }),
          },
        }),
      );
    },
    onSuccess: (changed) => {
      client.setQueryData(taskKey(task.id, null), changed);
      void client.invalidateQueries({ queryKey: ['task', task.id, 'history'] });
      setOpen(false);
      setNote('');
      toast(t('acknowledge.done'));
    },
  });
  return (
    <FormDialog
      label={t(task.acknowledged === null ? 'acknowledge.title' : 'acknowledge.again')}
      title={t('acknowledge.title')}
      what={t('acknowledge.what')}
      submit={t('acknowledge.title')}
      isDisabled={!may}
      isOpen={isOpen}
      onOpen={(open) => {
        setOpen(open);
        acknowledge.reset();
      }}
      error={acknowledge.error}
      isBusy={acknowledge.isPending}
      onSubmit={() => acknowledge.mutate()}
    >
      <SelectField
        label={t('acknowledge.for')}
        value={span}
        options={(Object.keys(spans) as Span[]).map((one) => [one, t(`acknowledge.span.${one}`)] as const)}
        onChoose={setSpan}
      />
      <TextField label={t('acknowledge.note')} value={note} onChange={setNote} input={{ maxLength: 500 }} />
    </FormDialog>
  );
}

export function AcknowledgedLine({ task }: { readonly task: Task }): ReactNode {
  const { t } = useTexts();
  const { acknowledged } = task;
  if (acknowledged === null) return null;
  return (
    <p className="notice" role="status">
      ✓ {t('acknowledge.isDone')} · <Actor actor={acknowledged.by} /> · <RelativeTime at={acknowledged.at} />
      {acknowledged.until !== null && (
        <>
          {' · '}
          {t('acknowledge.until')} <AbsoluteTime at={acknowledged.until} />
        </>
      )}
      {acknowledged.note !== null && (
        <>
          {' · '}
          <bdi>{acknowledged.note}</bdi>
        </>
      )}
    </p>
  );
}
