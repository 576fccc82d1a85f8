/** Why a task did or did not notify at a moment, as a chain from the slot to the messages. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useChannelName } from '../actions/use-channel-name.js';
import type { Explanation } from '../api/types.js';
import { DeliveryReason } from '../deliveries/delivery-reason.js';
import { hasEnded } from '../deliveries/delivery-words.js';
import { ResendButton } from '../deliveries/resend-button.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import type { TextKey } from '../text/catalogue.js';
import { useRunWords } from '../text/run-words.js';
import { ServerSentence, useSaid, useWording } from '../text/server-sentence.js';
import { useTexts } from '../text/text.js';
import { byteSize } from '../text/byte-size.js';
import { clockTime, withLocalTimes } from '../text/times.js';
import { useValueText } from '../text/value-text.js';
import { judgedRevision } from './judged-revision.js';
import { useExplanation } from './task-query.js';
import { Coded } from '../text/coded.js';
import './task.css';

type Tone = 'good' | 'stopped' | 'bad';

function Step(props: {
  readonly tone: Tone;
  readonly title: ReactNode;
  readonly aside?: ReactNode;
  readonly children?: ReactNode;
}): ReactNode {
  const sign = { good: '✓', stopped: '!', bad: '×' }[props.tone];
  return (
    <li>
      <span className={`dot ${props.tone}`} aria-hidden="true">
        {sign}
      </span>
      <div className="step-head">
        <b>{props.title}</b>
        <span className="small muted num">{props.aside}</span>
      </div>
      {props.children}
    </li>
  );
}

const stateTones: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  failed: 'bad',
  expired: 'bad',
  suppressed: 'stopped',
  unknown: 'bad',
};

/** The run that is shown had ended before: at the moment itself there was none, for a reason. */
const isOfOtherMoment = ({ execution, noRun }: Explanation): boolean =>
  execution !== null && noRun !== null && noRun.reason !== 'not_due';

function Chain({ found }: { readonly found: Explanation }): ReactNode {
  const { t, locale } = useTexts();
  const channelName = useChannelName();
  const words = useRunWords();
  const valueText = useValueText();
  const { execution, page, steps, decision, deliveries, noRun } = found;
  const at = (time: string): string => clockTime(time, Date.now(), locale);
  const nothingRan = (execution === null || isOfOtherMoment(found)) && (
    <Step tone="stopped" title={t('explain.noRun')}>
      <Reasoned
        isStopper
        message={noRun?.message ?? found.answer}
        words={noRun === null ? null : words.noRun(noRun.reason)}
      />
    </Step>
  );
  if (execution === null) return <ol className="chain">{nothingRan}</ol>;
  const stopped = steps.find(({ passed }) => !passed);
  return (
    <ol className="chain">
      {nothingRan}
      <Step
        tone="good"
        title={t(execution.trigger === 'manual' ? 'explain.byHand' : 'explain.due')}
        aside={at(execution.scheduledFor)}
      >
        <p className="muted">
          {t('explain.revision', { revision: judgedRevision(found) })}
          {execution.timings !== null && ` · ${t('explain.late', { ms: Math.round(execution.timings.queueMs) })}`}
        </p>
      </Step>
      {page !== null && (
        <Step
          tone={page.status !== null && page.status < 400 ? 'good' : 'bad'}
          title={t('explain.loaded')}
          aside={execution.timings === null ? '' : `+${Math.round(execution.timings.fetchMs)} ms`}
        >
          <p className="muted">
            {page.status ?? '–'} · {byteSize(page.bytes, locale)}
            {page.snapshotId !== null && (
              <>
                {' · '}
                <Link href={`/executions/${execution.id}?page=alone`}>{t('explain.pageThen')}</Link>
                {' · '}
                <Link href={`/executions/${execution.id}?page=before`}>{t('explain.differs')}</Link>
                {' · '}
                <Link href={`/executions/${execution.id}?page=now`}>{t('explain.besideNow')}</Link>
              </>
            )}
          </p>
        </Step>
      )}
      {execution.error === null ? (
        <Step
          tone="good"
          title={t('explain.answered', { outcome: String(execution.outcome) })}
          aside={execution.timings === null ? '' : `+${Math.round(execution.timings.evaluateMs)} ms`}
        >
          {Object.entries(execution.values).map(([name, value]) => (
            <p className="found mono" key={name}>
              {name} <b>{valueText(value)}</b>
            </p>
          ))}
          {execution.hint !== undefined && (
            <p className="notice warn">
              <ServerSentence text={execution.hint} />
            </p>
          )}
        </Step>
      ) : (
        <Step tone="bad" title={t('explain.failed', { reason: words.failure(execution.error.reason) })}>
          <p className="found">
            <ServerSentence text={execution.error.message} />
          </p>
          {execution.error.hint !== undefined && (
            <p className="muted">
              <ServerSentence text={execution.error.hint} />
            </p>
          )}
        </Step>
      )}
      {steps
        .filter(({ rule }) => rule !== 'run')
        .map(({ rule, passed, message }) => (
          <Step key={rule} tone={passed ? 'good' : 'stopped'} title={ruleTitle(t, rule)}>
            <Reasoned
              isStopper={!passed}
              message={message}
              words={passed ? null : words.reason(decision?.reason ?? '')}
            />
          </Step>
        ))}
      {decision !== null && (
        <Step
          tone={decision.notify ? 'good' : 'stopped'}
          title={t(decision.notify ? 'explain.notified' : 'explain.silent')}
        >
          <p className={stopped === undefined || decision.notify ? 'muted' : ''}>
            {words.reason(decision.reason)} <code className="small muted">{decision.reason}</code>
          </p>
        </Step>
      )}
      {deliveries.map((delivery) => (
        <Step
          key={delivery.id}
          tone={stateTones[delivery.state] ?? 'stopped'}
          title={t('explain.delivery', { type: channelName(delivery.actionType) })}
          aside={delivery.finishedAt === null ? '' : at(delivery.finishedAt)}
        >
          <p className="muted">
            {t(`delivery.${delivery.state}` as TextKey)} · {t('explain.attempts', { count: delivery.attempts.length })}{' '}
            · <Link href={`/deliveries/${delivery.id}`}>{t('explain.whatWasSent')}</Link>
            {hasEnded(delivery) && (
              <>
                {' · '}
                <ResendButton delivery={delivery} className="moment" />
              </>
            )}
          </p>
          {delivery.reason !== null && (
            <p className="found">
              <DeliveryReason reason={delivery.reason} />
            </p>
          )}
        </Step>
      ))}
    </ol>
  );
}

/** With the values. Where there is no text for the sentence, the reason alone is in the reader's language, and stands above it. */
function Reasoned(props: {
  readonly isStopper: boolean;
  readonly message: string;
  readonly words: string | null;
}): ReactNode {
  const { language, locale } = useTexts();
  const meant = useWording()?.ofSentence(props.message) ?? null;
  const message = withLocalTimes(meant ?? props.message, Date.now(), locale);
  if (meant !== null || language === 'en')
    return (
      <p className={props.isStopper ? 'stopper' : 'muted'}>
        <Coded text={message} />
      </p>
    );
  return (
    <>
      {props.words !== null && <p className="stopper">{props.words}</p>}
      <p className="small muted" lang="en">
        <Coded text={message} />
      </p>
    </>
  );
}

const ruleTitles: Readonly<Record<string, TextKey>> = {
  condition: 'rule.condition',
  confirmations: 'rule.confirmations',
  flapping: 'rule.flapping',
  health: 'rule.health',
  changed: 'rule.changed',
  error_threshold: 'rule.errorThreshold',
  not_told_yet: 'rule.notToldYet',
  paused: 'rule.paused',
  muted: 'rule.muted',
  dependencies: 'rule.dependencies',
  quiet_hours: 'rule.quietHours',
  cooldown: 'rule.cooldown',
  hourly_cap: 'rule.hourlyCap',
  actions: 'rule.actions',
  dry_run: 'rule.dryRun',
  order: 'rule.order',
  force: 'rule.force',
};

function ruleTitle(t: (key: TextKey) => string, rule: string): string {
  const key = ruleTitles[rule];
  return key === undefined ? rule : t(key);
}

function Answer({ found }: { readonly found: Explanation }): ReactNode {
  const { t, locale } = useTexts();
  const words = useRunWords();
  const ofServer = useSaid();
  const { execution, decision } = found;
  const said =
    execution === null || decision === null
      ? withLocalTimes(ofServer(found.answer), Date.now(), locale)
      : t(decision.notify ? 'explain.answerNotified' : 'explain.answerSilent', {
          at: clockTime(execution.finishedAt ?? execution.scheduledFor, Date.now(), locale),
          reason: words.reason(decision.reason),
        });
  return (
    <p aria-live="polite">{isOfOtherMoment(found) && decision !== null ? t('explain.beforeThat', { said }) : said}</p>
  );
}

export function ExplainCard({ id, at }: { readonly id: string; readonly at: string | null }): ReactNode {
  const { t, locale } = useTexts();
  const { data, error, refetch } = useExplanation(id, at);
  return (
    <section className="card" aria-label={t('explain.title')}>
      <header>
        <h2>{data === undefined ? t('explain.title') : t(data.notified ? 'explain.why' : 'explain.whyNot')}</h2>
        <span className="grow" />
        <span className="small muted num">{at === null ? t('explain.now') : clockTime(at, Date.now(), locale)}</span>
      </header>
      <div className="in stack">
        {error !== null && <ProblemNotice error={error} onRetry={() => void refetch()} />}
        {data !== undefined && (
          <>
            <Answer found={data} />
            <Chain found={data} />
          </>
        )}
      </div>
    </section>
  );
}
