/** Links that were mailed or printed: an invitation to join, a new password, and asking for one. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { api, dataOf } from '../api/client.js';
import { faultOf, isProblem } from '../api/problem.js';
import { Lone } from '../frame/lone.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { Coded } from '../text/coded.js';
import { useTexts } from '../text/text.js';
import { sessionKey } from './session.js';

const isGone = (error: unknown): boolean => isProblem(error) && error.status === 404;

function PasswordForm(props: {
  readonly what: string;
  readonly button: string;
  readonly field: string;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly onPassword: (password: string) => void;
}): ReactNode {
  const { t } = useTexts();
  const [password, setPassword] = useState('');
  const fault = faultOf(props.error, props.field);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        props.onPassword(password);
      }}
    >
      <p className="muted">{props.what}</p>
      {isGone(props.error) && <p className="notice bad">{t('link.gone')}</p>}
      {props.error !== null && !isGone(props.error) && fault === null && <ProblemNotice error={props.error} />}
      <div className="field">
        <label htmlFor="password">{t('you.newPassword')}</label>
        <input
          id="password"
          className="input"
          type="password"
          autoComplete="new-password"
          required
          aria-invalid={fault !== null}
          value={password}
          onChange={({ target }) => setPassword(target.value)}
        />
        <span className={fault === null ? 'hint' : 'fault'}>{fault ?? t('setup.passwordHint')}</span>
      </div>
      <button type="submit" className="button main" disabled={props.isBusy}>
        {props.button}
      </button>
    </form>
  );
}

/** A password that was thought up for a link that is no longer good would be in vain: that is looked at first. */
function LinkGone(props: { readonly hint: string }): ReactNode {
  const { t } = useTexts();
  return (
    <>
      <p className="notice bad">{t('link.gone')}</p>
      <p className="muted">{props.hint}</p>
      <Link href="/sign-in" className="button main">
        {t('signIn.do')}
      </Link>
    </>
  );
}

export function InvitationPage({ token }: { readonly token: string }): ReactNode {
  const { t } = useTexts();
  useTitle(t('invitation.title'));
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const accept = useMutation({
    mutationFn: (password: string) =>
      dataOf(api.POST('/api/invitations/{token}', { params: { path: { token } }, body: { password } })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: sessionKey });
      navigate('/tasks', { replace: true });
    },
  });
  const { data, error, refetch } = useQuery({
    queryKey: ['invitation', token],
    staleTime: Infinity,
    queryFn: () => dataOf(api.GET('/api/invitations/{token}', { params: { path: { token } } })),
  });
  return (
    <Lone>
      <h1>{t('invitation.title')}</h1>
      {isGone(error) && <LinkGone hint={t('invitation.joined')} />}
      {error !== null && !isGone(error) && <ProblemNotice error={error} onRetry={() => void refetch()} />}
      {data !== undefined && (
        <PasswordForm
          what={t('invitation.what', data)}
          button={t('invitation.do')}
          field="password"
          error={accept.error}
          isBusy={accept.isPending}
          onPassword={(password) => accept.mutate(password)}
        />
      )}
    </Lone>
  );
}

export function NewPasswordPage({ token }: { readonly token: string }): ReactNode {
  const { t } = useTexts();
  useTitle(t('reset.title'));
  const reset = useMutation({
    mutationFn: (newPassword: string) =>
      dataOf(api.POST('/api/password-resets/{token}', { params: { path: { token } }, body: { newPassword } })),
  });
  const { data, error, refetch } = useQuery({
    queryKey: ['password-reset', token],
    staleTime: Infinity,
    queryFn: () => dataOf(api.GET('/api/password-resets/{token}', { params: { path: { token } } })),
  });
  return (
    <Lone>
      <h1>{t('reset.title')}</h1>
      {isGone(error) && <LinkGone hint={t('reset.again')} />}
      {error !== null && !isGone(error) && <ProblemNotice error={error} onRetry={() => void refetch()} />}
      {data !== undefined && reset.data === undefined && (
        <PasswordForm
          what={t('reset.what', data)}
          button={t('reset.do')}
          field="newPassword"
          error={reset.error}
          isBusy={reset.isPending}
          onPassword={(password) => reset.mutate(password)}
        />
      )}
      {reset.data !== undefined && (
        <>
          <p className="notice good">{t('reset.done')}</p>
          <Link href="/sign-in" className="button main">
            {t('signIn.do')}
          </Link>
        </>
      )}
    </Lone>
  );
}

/** The same answer whether there is such an account or not. */
export function ForgottenPassword(props: { readonly email: string; readonly onNoEmail: () => void }): ReactNode {
  const { t } = useTexts();
  const { email, onNoEmail } = props;
  const [lacksEmail, setLacksEmail] = useState(false);
  const ask = useMutation({ mutationFn: () => dataOf(api.POST('/api/password-resets', { body: { email } })) });
  return (
    <div className="stack">
      <p>
        <button
          type="button"
          className="button plain"
          disabled={ask.isPending}
          onClick={() => {
            setLacksEmail(email === '');
            if (email === '') onNoEmail();
            else ask.mutate();
          }}
        >
          {t('signIn.forgotten')}
        </button>
      </p>
      {ask.data !== undefined && (
        <p className="notice" role="status">
          <Coded text={t('signIn.resetSent')} />
        </p>
      )}
      {lacksEmail && email === '' && (
        <p className="notice" role="status">
          {t('signIn.emailFirst')}
        </p>
      )}
      {ask.error !== null && <ProblemNotice error={ask.error} />}
    </div>
  );
}
