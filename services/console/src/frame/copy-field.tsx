/** A text to take along. Off loopback and without TLS a browser offers no clipboard: then it is selected for the keyboard. */
import { useId, useRef, useState, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';

export function CopyField({ label, value }: { readonly label: string; readonly value: string }): ReactNode {
  const { t } = useTexts();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setSaid(t('copy.done'));
    } catch {
      field.current?.select();
      setSaid(t('copy.selected'));
    }
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="bar">
        <input
          id={id}
          ref={field}
          className="input mono grow"
          readOnly
          value={value}
          onFocus={({ target }) => target.select()}
        />
        <button type="button" className="button main" onClick={() => void copy()}>
          {t('copy.do')}
        </button>
      </div>
      <span className="hint" role="status">
        {said}
      </span>
    </div>
  );
}
