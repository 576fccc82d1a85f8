/** A condition as a sentence whose parts are controls. */
import type { ReactNode } from 'react';
import type { TextKey } from '../text/catalogue.js';
import { useTypedNumber } from '../frame/typed-number.js';
import { useTexts } from '../text/text.js';
import { mayBeJoined } from './condition.js';
import type { Comparison, Sentence, SentenceKind } from './sentence.js';
import '../schedule/schedule.css';

const kinds: readonly SentenceKind[] = [
  'number',
  'numberChanges',
  'says',
  'matches',
  'appears',
  'changes',
  'newText',
  'newItem',
  'count',
  'pageSays',
  'json',
  'status',
  'certificate',
];
const comparisons: readonly Comparison[] = ['below', 'above', 'atMost', 'atLeast', 'exactly'];

/** Another kind of sentence about the same element. */
export function sentenceOfKind(kind: SentenceKind, before: Sentence): Sentence {
  const selector = 'selector' in before ? before.selector : 'body';
  const text = 'text' in before ? before.text : '';
  const limit = 'limit' in before ? before.limit : 0;
  const locale = 'locale' in before ? before.locale : '';
  const compare = 'compare' in before ? before.compare : 'below';
  switch (kind) {
    case 'number':
      return { kind, selector, locale, compare, limit };
    case 'numberChanges':
      return { kind, selector, locale, by: 5, isPercent: true };
    case 'says':
      return { kind, selector, text, isNegated: false };
    case 'matches':
      return { kind, selector, pattern: text };
    case 'appears':
      return { kind, selector, isGone: false };
    case 'changes':
      return { kind, selector };
    case 'newText':
      return { kind, selector, text };
    case 'newItem':
      return { kind, selector };
    case 'count':
      return { kind, selector, isMore: true, count: 0 };
    case 'pageSays':
      return { kind, text, isNegated: false };
    case 'json':
      return { kind, path: 'price', compare, limit };
    case 'status':
      return { kind, status: 404 };
    case 'certificate':
      return { kind, days: 14 };
  }
}

interface PartProps<T> {
  readonly label: TextKey;
  readonly value: T;
  readonly onChange: (value: T) => void;
}

function TextPart({ label, value, onChange }: PartProps<string>): ReactNode {
  const { t } = useTexts();
  return (
    <input
      className="input mono"
      aria-label={t(label)}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

function NumberPart({ label, value, onChange }: PartProps<number>): ReactNode {
  const { t } = useTexts();
  const typed = useTypedNumber(value, Number.isFinite, onChange);
  return <input className="input num" type="number" step="any" aria-label={t(label)} {...typed} />;
}

export function ChoicePart<T extends string>(
  props: PartProps<T> & { readonly options: readonly (readonly [T, TextKey])[] },
): ReactNode {
  const { t } = useTexts();
  return (
    <select
      className="input"
      style={{ width: 'auto' }}
      aria-label={t(props.label)}
      value={props.value}
      onChange={({ target }) => props.onChange(target.value as T)}
    >
      {props.options.map(([value, text]) => (
        <option key={value} value={value}>
          {t(text)}
        </option>
      ))}
    </select>
  );
}

const comparisonOptions = comparisons.map((one) => [one, `compare.${one}`] as const);
const negations = [
  ['no', 'sentence.saysIt'],
  ['yes', 'sentence.saysNot'],
] as const;

function Parts({
  sentence,
  onChange,
}: {
  readonly sentence: Sentence;
  readonly onChange: (sentence: Sentence) => void;
}): ReactNode {
  switch (sentence.kind) {
    case 'number':
    case 'json':
      return (
        <>
          {sentence.kind === 'json' && (
            <TextPart
              label="sentence.path"
              value={sentence.path}
              onChange={(path) => onChange({ ...sentence, path })}
            />
          )}
          <ChoicePart
            label="sentence.compare"
            value={sentence.compare}
            options={comparisonOptions}
            onChange={(compare) => onChange({ ...sentence, compare })}
          />
          <NumberPart
            label="sentence.limit"
            value={sentence.limit}
            onChange={(limit) => onChange({ ...sentence, limit })}
          />
        </>
      );
    case 'numberChanges':
      return (
        <>
          <NumberPart label="sentence.by" value={sentence.by} onChange={(by) => onChange({ ...sentence, by })} />
          <ChoicePart
            label="sentence.unit"
            value={sentence.isPercent ? 'percent' : 'units'}
            options={[
              ['percent', 'sentence.percent'],
              ['units', 'sentence.units'],
            ]}
            onChange={(unit) => onChange({ ...sentence, isPercent: unit === 'percent' })}
          />
        </>
      );
    case 'says':
    case 'pageSays':
      return (
        <>
          <ChoicePart
            label="sentence.says"
            value={sentence.isNegated ? 'yes' : 'no'}
            options={negations}
            onChange={(isNegated) => onChange({ ...sentence, isNegated: isNegated === 'yes' })}
          />
          <TextPart label="sentence.text" value={sentence.text} onChange={(text) => onChange({ ...sentence, text })} />
        </>
      );
    case 'newText':
      return (
        <TextPart label="sentence.text" value={sentence.text} onChange={(text) => onChange({ ...sentence, text })} />
      );
    case 'matches':
      return (
        <TextPart
          label="sentence.pattern"
          value={sentence.pattern}
          onChange={(pattern) => onChange({ ...sentence, pattern })}
        />
      );
    case 'appears':
      return (
        <ChoicePart
          label="sentence.appears"
          value={sentence.isGone ? 'gone' : 'there'}
          options={[
            ['there', 'sentence.isThere'],
            ['gone', 'sentence.isGone'],
          ]}
          onChange={(is) => onChange({ ...sentence, isGone: is === 'gone' })}
        />
      );
    case 'count':
      return (
        <>
          <ChoicePart
            label="sentence.compare"
            value={sentence.isMore ? 'more' : 'fewer'}
            options={[
              ['more', 'sentence.more'],
              ['fewer', 'sentence.fewer'],
            ]}
            onChange={(is) => onChange({ ...sentence, isMore: is === 'more' })}
          />
          <NumberPart
            label="sentence.count"
            value={sentence.count}
            onChange={(count) => onChange({ ...sentence, count })}
          />
        </>
      );
    case 'status':
      return (
        <NumberPart
          label="sentence.status"
          value={sentence.status}
          onChange={(status) => onChange({ ...sentence, status })}
        />
      );
    case 'certificate':
      return (
        <NumberPart label="sentence.days" value={sentence.days} onChange={(days) => onChange({ ...sentence, days })} />
      );
    case 'changes':
    case 'newItem':
      return null;
  }
}

export function SentenceForm({
  sentence,
  isPart = false,
  onChange,
}: {
  readonly sentence: Sentence;
  /** Of several: what can only stand alone is not offered. */
  readonly isPart?: boolean;
  readonly onChange: (sentence: Sentence) => void;
}): ReactNode {
  const { t } = useTexts();
  return (
    <div className="bar sentence" role="group" aria-label={t('sentence.title')}>
      <ChoicePart
        label="sentence.kind"
        value={sentence.kind}
        options={kinds
          .filter((kind) => !isPart || mayBeJoined({ kind }))
          .map((kind) => [kind, `sentence.${kind}`] as const)}
        onChange={(kind) => onChange(sentenceOfKind(kind, sentence))}
      />
      {'selector' in sentence && (
        <>
          {t('sentence.in')}
          <TextPart
            label="sentence.selector"
            value={sentence.selector}
            onChange={(selector) => onChange({ ...sentence, selector })}
          />
        </>
      )}
      <Parts sentence={sentence} onChange={onChange} />
    </div>
  );
}
