/** What a trial found: the answer, the value, what a message would say, and where it went wrong. */
import type { ReactNode } from 'react';
import { useChannelName } from '../actions/use-channel-name.js';
import type { Trial } from '../api/types.js';
import { StateMark } from '../marks/state-mark.js';
import type { TextKey } from '../text/catalogue.js';
import { useTexts } from '../text/text.js';
import { useValueText } from '../text/value-text.js';
import { ServerSentence } from '../text/server-sentence.js';

export function TrialVerdict({ trial }: { readonly trial: Trial }): ReactNode {
  const { t } = useTexts();
  const valueText = useValueText();
  const state = trial.error === null ? (trial.outcome === true ? 'met' : 'not-met') : 'broken';
  const value = trial.values['value'];
  return (
    <div className="verdict" role="status">
      <StateMark state={state} />
      {value !== undefined && <b className="num">{valueText(value).slice(0, 120)}</b>}
      <span className="small muted">
        {trial.timings !== null && t('trial.took', { ms: Math.round(trial.timings.evaluateMs) })} ·{' '}
        {t('trial.nothingSent')}
      </span>
    </div>
  );
}

/** A message says that the condition became true, or that the check broke, whatever the trial found: this is when it says so. */
function whenSent({ error, outcome }: Trial): TextKey {
  if (error !== null) return 'trial.messageOnceBroken';
  return outcome === true ? 'trial.message' : 'trial.messageOnceMet';
}

export function TrialDetails({ trial }: { readonly trial: Trial }): ReactNode {
  const { t } = useTexts();
  const channelName = useChannelName();
  const hint = trial.error?.hint ?? trial.hint;
  return (
    <div className="stack">
      {trial.error !== null && (
        <div className="notice bad">
          <p>
            <code>{trial.error.reason}</code> <ServerSentence text={trial.error.message} />
          </p>
          {trial.error.frame !== undefined && <pre>{trial.error.frame}</pre>}
        </div>
      )}
      {hint !== undefined && (
        <p className="notice warn">
          <ServerSentence text={hint} />
        </p>
      )}
      {trial.logs.length > 0 && <pre>{trial.logs.map(({ level, message }) => `${level}: ${message}`).join('\n')}</pre>}
      {trial.messages.slice(0, 3).map((message) => (
        <div key={`${message.actionId} ${message.kind}`} className="notice">
          <p className="small muted">{t(whenSent(trial), { type: channelName(message.actionType) })}</p>
          <p>
            <b>{message.title}</b>
          </p>
          <p style={{ whiteSpace: 'pre-wrap' }}>{message.text}</p>
        </div>
      ))}
      {trial.error === null && (
        <p className="small muted">{t(trial.outcome === true ? 'trial.isMet' : 'trial.isNotMet')}</p>
      )}
    </div>
  );
}
