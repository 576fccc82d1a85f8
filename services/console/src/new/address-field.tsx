/** Where the page is, and whether a browser is to render it. */
import { useEffect, useState, type ReactNode, type RefObject } from 'react';
import { useTexts } from '../text/text.js';
import type { NewTaskDraft } from './new-draft.js';
import type { PagePreview } from './preview-query.js';

export function AddressField({
  draft,
  field,
  hasFault,
  onLoad,
  onMode,
  isLoading,
  loaded,
}: {
  readonly draft: NewTaskDraft;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly hasFault: boolean;
  readonly onLoad: (typed: string) => void;
  readonly onMode: (typed: string, mode: 'http' | 'browser') => void;
  readonly isLoading: boolean;
  readonly loaded: PagePreview | undefined;
}): ReactNode {
  const { t } = useTexts();
  const [typed, setTyped] = useState(draft.url);
  useEffect(() => setTyped(draft.url), [draft.url]);
  useEffect(() => field.current?.focus(), [field]);
  return (
    <form
      className="bar address-field"
      onSubmit={(event) => {
        event.preventDefault();
        onLoad(typed);
      }}
    >
      <input
        ref={field}
        className="input mono grow"
        type="text"
        inputMode="url"
        autoComplete="url"
        aria-label={t('new.address')}
        aria-invalid={hasFault}
        aria-describedby={hasFault ? 'new-address-fault' : undefined}
        placeholder="https://shop.example/aeron"
        maxLength={2_048}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <select
        className="input"
        style={{ width: 'auto' }}
        aria-label={t('new.mode')}
        value={draft.mode}
        onChange={({ target }) => onMode(typed, target.value as 'http' | 'browser')}
      >
        <option value="http">{t('new.mode.http')}</option>
        <option value="browser">{t('new.mode.browser')}</option>
      </select>
      <button type="submit" className="button main" disabled={isLoading || typed.trim() === ''}>
        {t(isLoading ? 'new.loading' : loaded === undefined ? 'new.load' : 'new.loadAgain')}
      </button>
    </form>
  );
}
