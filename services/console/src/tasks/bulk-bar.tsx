/** What can be done with the tasks that are chosen. */
import { useState, type ReactNode } from 'react';
import { useMay } from '../session/session.js';
import { useTexts } from '../text/text.js';
import { useBulk, type Chosen, type Deed } from './bulk.js';

interface Props {
  readonly chosen: Chosen;
  readonly count: number;
  /** All that match, where that is more than what is chosen. */
  readonly total: number;
  readonly onChooseAll: () => void;
  readonly onClear: () => void;
}

export function BulkBar({ chosen, count, total, onChooseAll, onClear }: Props): ReactNode {
  const { t } = useTexts();
  const bulk = useBulk();
  const mayWrite = useMay('write');
  const mayRun = useMay('execute');
  const [tag, setTag] = useState('');
  const run = (deed: Deed, tags?: readonly string[]): void => {
    bulk.mutate({ deed, chosen, ...(tags !== undefined && { tags }) }, { onSuccess: onClear });
  };
  const isBusy = bulk.isPending;
  return (
    <div className="bar bulk-bar" role="region" aria-label={t('bulk.region')}>
      <b className="num">{t('bulk.chosen', { count })}</b>
      {count < total && (
        <button type="button" className="button plain" onClick={onChooseAll}>
          {t('bulk.chooseAll', { total })}
        </button>
      )}
      <span className="grow" />
      <button type="button" className="button" disabled={!mayWrite || isBusy} onClick={() => run('pause')}>
        {t('bulk.pause')}
      </button>
      <button type="button" className="button" disabled={!mayWrite || isBusy} onClick={() => run('resume')}>
        {t('bulk.resume')}
      </button>
      <button type="button" className="button" disabled={!mayRun || isBusy} onClick={() => run('execute')}>
        {t('bulk.execute')}
      </button>
      <form
        className="bar"
        onSubmit={(event) => {
          event.preventDefault();
          if (tag.trim() !== '') run('tag', [tag.trim()]);
        }}
      >
        <input
          className="input"
          style={{ width: '8rem' }}
          aria-label={t('bulk.tag')}
          placeholder={t('bulk.tag')}
          value={tag}
          onChange={({ target }) => setTag(target.value)}
        />
        <button type="submit" className="button" disabled={!mayWrite || isBusy || tag.trim() === ''}>
          {t('bulk.addTag')}
        </button>
        <button
          type="button"
          className="button"
          disabled={!mayWrite || isBusy || tag.trim() === ''}
          onClick={() => run('untag', [tag.trim()])}
        >
          {t('bulk.removeTag')}
        </button>
      </form>
      <button type="button" className="button danger" disabled={!mayWrite || isBusy} onClick={() => run('archive')}>
        {t('bulk.archive')}
      </button>
      <button type="button" className="button plain" onClick={onClear}>
        {t('bulk.clear')}
      </button>
    </div>
  );
}
