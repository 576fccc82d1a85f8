/** The first start: makes the organisation, its owner and a first key, which is shown once. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { api, dataOf } from '../api/client.js';
import { faultOf, isProblem } from '../api/problem.js';
import { CopyField } from '../frame/copy-field.js';
import { Lone } from '../frame/lone.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useTitle } from '../frame/title.js';
import { useTexts } from '../text/text.js';
import { sessionKey } from './session.js';

/** The printed link carries the token behind #, so that it reaches no server's log; as ?token=… it works too. */
export function tokenOfLink({ search, hash }: Pick<Location, 'search' | 'hash'>): string {
  return new URLSearchParams(search).get('token') ?? new URLSearchParams(hash.slice(1)).get('token') ?? '';
}

interface Form {
  readonly setupToken: string;
  readonly organization: string;
  readonly email: string;
  readonly password: string;
}

const fields = [
  { name: 'setupToken', text: 'setup.token', type: 'text', autoComplete: 'off', maxLength: 200 },
  { name: 'organization', text: 'setup.organization', type: 'text', autoComplete: 'organization', maxLength: 200 },
  { name: 'email', text: 'signIn.email', type: 'email', autoComplete: 'username', maxLength: 254 },
  { name: 'password', text: 'signIn.password', type: 'password', autoComplete: 'new-password', maxLength: 1_000 },
] as const;

export function SetupPage(): ReactNode {
  const { t } = useTexts();
  useTitle(t('setup.title'));
  const client = useQueryClient();
  const [form, setForm] = useState<Form>(() => ({
    setupToken: tokenOfLink(location),
    organization: '',
    email: '',
    password: '',
  }));
  const setUp = useMutation({
    mutationFn: async () => {
      const made = await dataOf(api.POST('/api/setup', { body: { ...form, setupToken: form.setupToken.trim() } }));
      // Whoever set it up is signed in at once: the password was just typed.
      await dataOf(api.POST('/api/sessions', { body: { email: form.email, password: form.password } }));
      return made;
    },
    onSuccess: async () => {
      // The token is spent; it need not stay in the history.
      history.replaceState(null, '', '/setup');
      await client.invalidateQueries({ queryKey: sessionKey });
    },
  });
  const { data: made, error } = setUp;
  useEffect(() => {
    if (made === undefined) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [made]);
  if (made !== undefined) {
    return (
      <Lone>
        <h1>{t('setup.done')}</h1>
        <p>{t('setup.keyOnce')}</p>
        <CopyField label={t('setup.key')} value={made.apiKey} />
        <Link href="/new" className="button main">
          {t('setup.firstTask')}
        </Link>
      </Lone>
    );
  }
  const isWrongToken = isProblem(error) && error.status === 401;
  const faults = fields.map(({ name }) => [name, faultOf(error, name)] as const);
  const hasNamed = faults.some(([, fault]) => fault !== null);
  return (
    <Lone>
      <h1>{t('setup.title')}</h1>
      <p className="muted">{t('setup.what')}</p>
      {error !== null && !hasNamed && !isWrongToken && <ProblemNotice error={error} />}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setUp.mutate();
        }}
      >
        {fields.map(({ name, text, type, autoComplete, maxLength }, index) => {
          const fault = name === 'setupToken' && isWrongToken ? t('setup.wrongToken') : (faults[index]?.[1] ?? null);
          return (
            <div className="field" key={name}>
              <label htmlFor={name}>{t(text)}</label>
              <input
                id={name}
                className="input"
                type={type}
                autoComplete={autoComplete}
                maxLength={maxLength}
                required
                aria-invalid={fault !== null}
                aria-describedby={`${name}-note`}
                value={form[name]}
                onChange={({ target }) => setForm((before) => ({ ...before, [name]: target.value }))}
              />
              <span id={`${name}-note`} className={fault === null ? 'hint' : 'fault'}>
                {fault ?? (name === 'password' ? t('setup.passwordHint') : '')}
              </span>
            </div>
          );
        })}
        <button type="submit" className="button main" disabled={setUp.isPending}>
          {t('setup.do')}
        </button>
      </form>
    </Lone>
  );
}
