/** Asks for the password once more before something that only its owner may do. */
import { useState, type ReactNode } from 'react';
import { faultOf } from '../api/problem.js';
import { useTexts } from '../text/text.js';
import { useFocusOnFault } from './focus-on-fault.js';
import { FormDialog } from './form-dialog.js';
import { TextField } from './labelled.js';

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
  const fault = faultOf(error, 'password');
  const field = useFocusOnFault(error, 'password');
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
      error={fault === null ? error : null}
      isBusy={isBusy}
      onSubmit={() => onPassword(password, close)}
    >
      <TextField
        label={t('signIn.password')}
        fault={fault}
        value={password}
        onChange={setPassword}
        input={{ ref: field, type: 'password', autoComplete: 'current-password', required: true }}
      />
      {children}
    </FormDialog>
  );
}
