/** Asks for the password once more before something that only its owner may do. */
import { Dialog } from '@base-ui/react/dialog';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { ProblemNotice } from './problem-notice.js';

interface Props {
  readonly label: string;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly isDisabled?: boolean;
  readonly children?: ReactNode;
  readonly onPassword: (password: string, close: () => void) => void;
}

export function PasswordDialog({ label, error, isBusy, isDisabled = false, children, onPassword }: Props): ReactNode {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const [password, setPassword] = useState('');
  const close = (): void => {
    setOpen(false);
    setPassword('');
  };
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => (open ? setOpen(true) : close())}>
      <Dialog.Trigger className="button plain" disabled={isDisabled}>
        {label}
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="dialog-back" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>{label}</Dialog.Title>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              onPassword(password, close);
            }}
          >
            <div className="field">
              <label htmlFor="again-password">{t('signIn.password')}</label>
              <input
                id="again-password"
                className="input"
                type="password"
                autoComplete="current-password"
                required
                value={password}
                onChange={({ target }) => setPassword(target.value)}
              />
            </div>
            {children}
            {error !== null && error !== undefined && <ProblemNotice error={error} />}
            <div className="bar">
              <span className="grow" />
              <Dialog.Close className="button">{t('frame.cancel')}</Dialog.Close>
              <button type="submit" className="button main" disabled={isBusy}>
                {label}
              </button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
