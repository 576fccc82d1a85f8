/** What a task is called, which page it looks at, and how that is loaded: changed by the same draft as its condition. */
import { useEffect, useState, type ReactNode } from 'react';
import type { Task } from '../api/types.js';
import { faultOf } from '../api/problem.js';
import { SelectField, TextField } from '../frame/labelled.js';
import type { TaskDraft } from '../task/draft.js';
import { useTexts } from '../text/text.js';

const own = ['name', 'url', 'tags'] as const;
const tagsIn = (typed: string): string[] => [...new Set(typed.split(/[\s,]+/).filter((tag) => tag !== ''))];

/** `task`: as the draft has it. */
export function PageCard({ task, draft }: { readonly task: Task; readonly draft: TaskDraft }): ReactNode {
  const { t } = useTexts();
  const { fetch } = task;
  const live = task.tags.join(' ');
  const [tags, setTags] = useState(live);
  const areEdited = 'tags' in draft.edit;
  useEffect(() => {
    if (!areEdited) setTags(live);
  }, [areEdited, live]);
  const fault = (field: string): string | null => faultOf(draft.error, field);
  return (
    <details className="card page-card" open={own.some((name) => name in draft.edit) || undefined}>
      <summary>{t('page.title')}</summary>
      <div className="in pair">
        <TextField
          label={t('new.name')}
          fault={fault('name')}
          value={task.name}
          onChange={(name) => draft.change({ name })}
          input={{ maxLength: 200, required: true }}
        />
        <TextField
          label={t('new.address')}
          fault={fault('url')}
          isMono
          value={task.url}
          onChange={(url) => draft.change({ url })}
          input={{ inputMode: 'url', maxLength: 2_048 }}
        />
        <SelectField
          label={t('new.mode')}
          fault={fault('fetch')}
          value={fetch.mode}
          options={[
            ['http', t('new.mode.http')],
            ['browser', t('new.mode.browser')],
          ]}
          onChoose={(mode) => draft.change({ fetch: { ...fetch, mode } })}
        />
        <TextField
          label={t('tasks.tags')}
          hint={t('page.tagsHint')}
          fault={fault('tags')}
          value={tags}
          onChange={(typed) => {
            setTags(typed);
            draft.change({ tags: tagsIn(typed) });
          }}
        />
      </div>
    </details>
  );
}
