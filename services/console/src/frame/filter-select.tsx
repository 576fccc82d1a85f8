/** One filter of a list as a native select: all, or one of a few words. */
import { useId, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly wordOf?: (option: string) => string;
  readonly onChoose: (value: string) => void;
}

export function FilterSelect({ label, value, options, wordOf, onChoose }: Props): ReactNode {
  const { t } = useTexts();
  const id = useId();
  return (
    <span className="bar">
      <label htmlFor={id} className="small muted">
        {label}
      </label>
      <select
        id={id}
        className="input"
        style={{ width: 'auto' }}
        value={value}
        onChange={({ target }) => onChoose(target.value)}
      >
        <option value="">{t('frame.any')}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {wordOf?.(option) ?? option.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </span>
  );
}
