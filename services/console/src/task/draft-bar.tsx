/** What can be done with an edit: save it, drop it, and where somebody else was faster, choose between both. */
import type { ReactNode } from 'react';
import type { Task } from '../api/types.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useSaveKey } from '../frame/shortcuts.js';
import { useMay } from '../session/session.js';
import { useTexts } from '../text/text.js';
import type { TaskDraft } from './draft.js';
import { ChangedField } from './history-tab.js';

interface Props {
  readonly task: Task;
  readonly draft: TaskDraft;
  readonly children?: ReactNode;
}

export function DraftBar({ task, draft, children }: Props): ReactNode {
  const { t } = useTexts();
  const mayWrite = useMay('write');
  const { save, isChanged } = draft;
  useSaveKey(save);
  return (
    <div className="stack">
      <div className="bar">
        <span className="small muted">{t(isChanged ? 'draft.kept' : 'draft.none')}</span>
        <span className="grow" />
        {isChanged && (
          <button type="button" className="button plain" onClick={draft.discard}>
            {t('draft.discard')}
          </button>
        )}
        {children}
        <button
          type="button"
          className="button main"
          disabled={!mayWrite || !isChanged || draft.isSaving}
          title={mayWrite ? undefined : t('draft.mayNot')}
          onClick={save}
        >
          {t('draft.save', { revision: task.revision + 1 })} <kbd aria-hidden="true">Ctrl S</kbd>
        </button>
      </div>
      {draft.error !== null && <ProblemNotice error={draft.error} />}
      {draft.theirs !== null && (
        <div className="notice warn stack" role="alert">
          <p>{t('draft.stale', { revision: draft.theirs.revision })}</p>
          {Object.entries(draft.edit).map(([name, mine]) => (
            <ChangedField key={name} path={name} from={draft.theirs?.[name as keyof Task]} to={mine} />
          ))}
          <div className="bar">
            <button type="button" className="button" onClick={draft.discard}>
              {t('draft.takeTheirs')}
            </button>
            <button type="button" className="button main" onClick={draft.keepMine}>
              {t('draft.keepMine')}
            </button>
          </div>
        </div>
      )}
    </div>
  );
}
