/** A code of an app besides the password: turned on with a picture, turned off with a code. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { encode } from 'uqr';
import { api, dataOf } from '../api/client.js';
import { faultOf } from '../api/problem.js';
import { CopyField } from '../frame/copy-field.js';
import { useFocusOnFault } from '../frame/focus-on-fault.js';
import { TextField } from '../frame/labelled.js';
import { PasswordDialog } from '../frame/password-dialog.js';
import { ProblemNotice } from '../frame/problem-notice.js';
import { useToast } from '../frame/toasts.js';
import { useTexts } from '../text/text.js';

function QrCode({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const { data, size } = encode(text, { border: 1 });
  const cells = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={cells.join('')} fill="#000" />
    </svg>
  );
}

export function SecondFactor({
  state,
  codesLeft,
}: {
  readonly state: 'off' | 'pending' | 'on';
  readonly codesLeft: number;
}): ReactNode {
  const { t } = useTexts();
  const client = useQueryClient();
  const toast = useToast();
  const [code, setCode] = useState('');
  const refresh = (): void => void client.invalidateQueries({ queryKey: ['second-factor'] });
  const begin = useMutation({
    mutationFn: (password: string) => dataOf(api.POST('/api/account/second-factor', { body: { password } })),
    onSuccess: refresh,
  });
  const confirm = useMutation({
    mutationFn: () => dataOf(api.POST('/api/account/second-factor/confirm', { body: { code: code.trim() } })),
    onSuccess: () => {
      setCode('');
      begin.reset();
      refresh();
      toast(t('you.secondFactorOn'));
    },
  });
  const end = useMutation({
    mutationFn: (password: string) =>
      dataOf(api.DELETE('/api/account/second-factor', { body: { password, code: code.trim() } })),
    onSuccess: () => {
      setCode('');
      refresh();
      toast(t('you.secondFactorOff'));
    },
  });
  const codeInput = useFocusOnFault(end.error ?? confirm.error, 'code');
  const codeField = (fault: string | null): ReactNode => (
    <TextField
      label={t('signIn.code')}
      fault={fault}
      value={code}
      onChange={setCode}
      isMono
      input={{ ref: codeInput, inputMode: 'numeric', autoComplete: 'one-time-code', maxLength: 40 }}
    />
  );
  const wrongCode = { end: faultOf(end.error, 'code'), confirm: faultOf(confirm.error, 'code') };
  return (
    <section className="card" aria-label={t('you.secondFactor')}>
      <header>
        <h2>{t('you.secondFactor')}</h2>
        <span className="muted">{t(`secondFactor.${state}`)}</span>
        {state === 'on' && <span className="small muted">{t('you.codesLeft', { count: codesLeft })}</span>}
        <span className="grow" />
        {state === 'on' ? (
          <PasswordDialog
            label={t('you.turnOff')}
            error={wrongCode.end === null ? end.error : null}
            isBusy={end.isPending}
            onPassword={(password, close) => end.mutate(password, { onSuccess: close })}
          >
            {codeField(wrongCode.end)}
          </PasswordDialog>
        ) : (
          <PasswordDialog
            label={t('you.turnOn')}
            error={begin.error}
            isBusy={begin.isPending}
            onPassword={(password, close) => begin.mutate(password, { onSuccess: close })}
          />
        )}
      </header>
      {begin.data !== undefined && (
        <div className="in stack">
          <p>{t('you.scan')}</p>
          <QrCode text={begin.data.otpauthUrl} label={t('you.qr')} />
          <CopyField label={t('you.secret')} value={begin.data.secret} />
          <p>{t('you.recovery')}</p>
          <pre className="recovery-codes">{begin.data.recoveryCodes.join('\n')}</pre>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              confirm.mutate();
            }}
          >
            {codeField(wrongCode.confirm)}
            {confirm.error !== null && wrongCode.confirm === null && <ProblemNotice error={confirm.error} />}
            <p>
              <button type="submit" className="button main" disabled={confirm.isPending}>
                {t('you.confirm')}
              </button>
            </p>
          </form>
        </div>
      )}
    </section>
  );
}
