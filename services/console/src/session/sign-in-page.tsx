/** Signing in, and back to the address first asked for. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useLocation, useSearch } from 'wouter';
import { api, dataOf } from '../api/client.js';
import { isProblem } from '../api/problem.js';
import { Lone } from '../frame/lone.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { useTexts } from '../text/text.js';
import { ForgottenPassword } from './link-pages.js';
import { addressWithin } from './return-address.js';
import { sessionKey, useSessionQuery, wasSignedIn } from './session.js';

const isReason = (error: unknown, reason: string): boolean => isProblem(error) && error.reason === reason;

export function SignInPage(): ReactNode {
  const { t } = useTexts();
  useTitle(t('signIn.title'));
  const to = addressWithin(new URLSearchParams(useSearch()).get('to'), location.origin);
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const [isKnown, setKnown] = useState(wasSignedIn);
  const known = useSessionQuery(isKnown);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const methods = useQuery({ queryKey: ['sign-in'], queryFn: () => dataOf(api.GET('/api/sign-in')) });
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  useEffect(() => {
    if (known.data !== null && known.data !== undefined) navigate(to, { replace: true });
  }, [known.data, navigate, to]);
  /** Once it was asked for it stays, also while it is emptied for the next one. */
  const [asksCode, setAsksCode] = useState(false);
  const signIn = useMutation({
    mutationFn: (given: { readonly code?: string }) =>
      dataOf(api.POST('/api/sessions', { body: { email, password, ...given } })),
    onError: (refusal) => {
      if (isReason(refusal, 'second_factor_required')) setAsksCode(true);
    },
    onSuccess: async () => {
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
      setKnown(true);
      await client.invalidateQueries({ queryKey: sessionKey });
    },
  });
  const { error } = signIn;
  const wantsCode = isReason(error, 'second_factor_required');
  const isCodeRefused = signIn.variables?.code !== undefined && isReason(error, 'wrong_credentials');
  return (
    <Lone>
      <h1>{t('signIn.title')}</h1>
      {isCodeRefused ? (
        <p className="notice bad" role="alert">
          {t('signIn.wrongCode')}
        </p>
      ) : (
        error !== null && !wantsCode && <ProblemNotice error={error} />
      )}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          signIn.mutate(code.trim() === '' ? {} : { code: code.trim() });
        }}
      >
        <div className="field">
          <label htmlFor="email">{t('signIn.email')}</label>
          <input
            ref={first}
            id="email"
            className="input"
            type="email"
            autoComplete="username"
            required
            maxLength={254}
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor="password">{t('signIn.password')}</label>
          <input
            id="password"
            className="input"
            type="password"
            autoComplete="current-password"
            required
            maxLength={1_000}
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        </div>
        {asksCode && (
          <div className="field">
            <label htmlFor="code">{t('signIn.code')}</label>
            <input
              id="code"
              className="input mono"
              inputMode="numeric"
              autoComplete="one-time-code"
              autoFocus
              maxLength={40}
              value={code}
              onChange={({ target }) => setCode(target.value)}
            />
            <span className="hint">{t('signIn.codeHint')}</span>
          </div>
        )}
        <button type="submit" className="button main" disabled={signIn.isPending}>
          {t('signIn.do')}
        </button>
      </form>
      {(methods.data?.methods ?? []).map(
        (method) =>
          method.type === 'oidc' && (
            <a key={method.id} className="button" href={`${method.startUrl}?to=${encodeURIComponent(to)}`}>
              {t('signIn.with', { name: method.name })}
            </a>
          ),
      )}
      <ForgottenPassword email={email} onNoEmail={() => first.current?.focus()} />
    </Lone>
  );
}
