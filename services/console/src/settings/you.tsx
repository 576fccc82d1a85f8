/** One's own account: password, second factor, language, theme, keys, and out. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { api, dataOf } from '../api/client.js';
import { faultOf } from '../api/problem.js';
import { useFocusOnFault } from '../frame/focus-on-fault.js';
import { TextField } from '../frame/labelled.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { areShortcutsOn, setShortcutsOn } from '../frame/shortcuts.js';
import { chooseTheme, preferredTheme, themes, type Theme } from '../frame/theme.js';
import { useToast } from '../frame/toasts.js';
import { sessionKey, useSession } from '../session/session.js';
import { languages, useTexts, type Language } from '../text/text.js';
import { SecondFactor } from './second-factor.js';

const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

function PasswordCard(): ReactNode {
  const { t } = useTexts();
  const toast = useToast();
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useMutation({
    mutationFn: () => dataOf(api.POST('/api/account/password', { body: { currentPassword, newPassword } })),
    onSuccess: () => {
      setCurrent('');
      setNew('');
      toast(t('you.passwordChanged'));
    },
  });
  const faults = {
    currentPassword: faultOf(change.error, 'currentPassword'),
    newPassword: faultOf(change.error, 'newPassword'),
  };
  const current = useFocusOnFault(change.error, 'currentPassword');
  const isSaidAtField = faults.currentPassword !== null || faults.newPassword !== null;
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <header>
        <h2>{t('you.password')}</h2>
      </header>
      <div className="in stack">
        <TextField
          label={t('you.currentPassword')}
          fault={faults.currentPassword}
          value={currentPassword}
          onChange={setCurrent}
          input={{ ref: current, type: 'password', autoComplete: 'current-password', required: true }}
        />
        <TextField
          label={t('you.newPassword')}
          fault={faults.newPassword}
          hint={t('setup.passwordHint')}
          value={newPassword}
          onChange={setNew}
          input={{ type: 'password', autoComplete: 'new-password', required: true }}
        />
        {change.error !== null && !isSaidAtField && <ProblemNotice error={change.error} />}
        <p>
          <button type="submit" className="button" disabled={change.isPending}>
            {t('you.changePassword')}
          </button>
        </p>
      </div>
    </form>
  );
}

export function You(): ReactNode {
  const { t, language, setLanguage } = useTexts();
  const { account, organization, role } = useSession();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [theme, setTheme] = useState<Theme>(preferredTheme);
  const [hasKeys, setHasKeys] = useState(areShortcutsOn);
  const health = useQuery({
    queryKey: ['second-factor'],
    queryFn: () => dataOf(api.GET('/api/account/second-factor')),
  });
  const signOut = useMutation({
    mutationFn: () => dataOf(api.DELETE('/api/sessions/current')),
    onSettled: () => {
      client.clear();
      client.setQueryData(sessionKey, null);
      navigate('/sign-in');
    },
  });
  return (
    <div className="stack">
      <section className="card">
        <header>
          <h2>{account.email}</h2>
          <span className="muted">
            {organization.name} · {t(`role.${role}`)}
          </span>
          <span className="grow" />
          <button type="button" className="button" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
            {t('you.signOut')}
          </button>
        </header>
        <div className="in bar">
          <label htmlFor="language">{t('you.language')}</label>
          <select
            id="language"
            className="input"
            style={{ width: 'auto' }}
            value={language}
            onChange={({ target }) => setLanguage(target.value as Language)}
          >
            {languages.map((one) => (
              <option key={one} value={one}>
                {languageNames[one]}
              </option>
            ))}
          </select>
          <label htmlFor="theme">{t('you.theme')}</label>
          <select
            id="theme"
            className="input"
            style={{ width: 'auto' }}
            value={theme}
            onChange={({ target }) => {
              const chosen = target.value as Theme;
              chooseTheme(chosen);
              setTheme(chosen);
            }}
          >
            {themes.map((one) => (
              <option key={one} value={one}>
                {t(`theme.${one}`)}
              </option>
            ))}
          </select>
          <label className="bar">
            <input
              type="checkbox"
              checked={hasKeys}
              onChange={({ target }) => {
                setShortcutsOn(target.checked);
                setHasKeys(target.checked);
              }}
            />
            {t('keys.on')}
          </label>
        </div>
      </section>
      <PasswordCard />
      {health.data !== undefined && (
        <SecondFactor state={health.data.state} codesLeft={health.data.recoveryCodesLeft} />
      )}
    </div>
  );
}
