/** Asks for the password once more before something that only its owner may do. */
import { useState, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { FormDialog } from './form-dialog.js';

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
    <FormDialog
      label={label}
      submit={label}
      isPlain
      isDisabled={isDisabled}
      isOpen={isOpen}
      onOpen={(open) => (open ? setOpen(true) : close())}
      error={error}
      isBusy={isBusy}
      onSubmit={() => onPassword(password, close)}
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
    </FormDialog>
  );
}
