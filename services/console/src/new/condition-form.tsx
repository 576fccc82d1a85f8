/** A condition of one sentence or of several, joined by "and" or "or". */
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { isJoined, mayBeJoined, withoutPart, type Condition, type Joined } from './condition.js';
import { ChoicePart, SentenceForm } from './sentence-form.js';
import type { Sentence } from './sentence.js';

/** Never one that any page meets. */
const fresh: Sentence = { kind: 'pageSays', text: 'in stock', isNegated: false };
const mostParts = 8;

function JoinedForm(props: {
  readonly condition: Joined;
  readonly onChange: (condition: Condition) => void;
}): ReactNode {
  const { t } = useTexts();
  const { condition, onChange } = props;
  const { parts } = condition;
  return (
    <div className="stack">
      <div className="bar">
        <ChoicePart
          label="joined.kind"
          value={condition.kind}
          options={[
            ['all', 'joined.all'],
            ['any', 'joined.any'],
          ]}
          onChange={(kind) => onChange({ ...condition, kind })}
        />
      </div>
      {parts.map((part, index) => (
        <div className="bar" key={index} role="group" aria-label={t('joined.part', { number: index + 1 })}>
          <SentenceForm
            sentence={part}
            isPart
            onChange={(next) => onChange({ ...condition, parts: parts.map((one, at) => (at === index ? next : one)) })}
          />
          <button
            type="button"
            className="button plain danger"
            aria-label={t('joined.remove', { number: index + 1 })}
            onClick={() => onChange(withoutPart(condition, index))}
          >
            ×
          </button>
        </div>
      ))}
      {parts.length < mostParts && (
        <p>
          <button
            type="button"
            className="button plain"
            onClick={() => onChange({ ...condition, parts: [...parts, fresh] })}
          >
            {t(condition.kind === 'all' ? 'joined.and' : 'joined.or')}
          </button>
        </p>
      )}
    </div>
  );
}

export function ConditionForm(props: {
  readonly condition: Condition;
  readonly onChange: (condition: Condition) => void;
}): ReactNode {
  const { t } = useTexts();
  const { condition, onChange } = props;
  if (isJoined(condition)) return <JoinedForm condition={condition} onChange={onChange} />;
  return (
    <div className="stack">
      <SentenceForm sentence={condition} onChange={onChange} />
      {mayBeJoined(condition) && (
        <p className="bar">
          {(['all', 'any'] as const).map((kind) => (
            <button
              key={kind}
              type="button"
              className="button plain"
              onClick={() => onChange({ kind, parts: [condition, fresh] })}
            >
              {t(kind === 'all' ? 'joined.and' : 'joined.or')}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}
