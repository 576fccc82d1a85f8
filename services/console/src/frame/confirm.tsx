/** What cannot be undone asks for the name of what goes. */
import { Dialog } from '@base-ui/react/dialog';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';

interface Props {
  readonly label: string;
  readonly what: string;
  /** To be typed. */
  readonly name: string;
  readonly isDisabled?: boolean;
  readonly onConfirm: () => void;
}

export function ConfirmButton({ label, what, name, isDisabled = false, onConfirm }: Props): ReactNode {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  return (
    <Dialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        setOpen(open);
        setTyped('');
      }}
    >
      <Dialog.Trigger className="button plain danger" disabled={isDisabled}>
        {label}
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="dialog-back" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>{label}</Dialog.Title>
          <Dialog.Description>{what}</Dialog.Description>
          <div className="field">
            <label htmlFor="confirm-name">{t('confirm.type', { name })}</label>
            <input
              id="confirm-name"
              className="input"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
          </div>
          <div className="bar">
            <span className="grow" />
            <Dialog.Close className="button">{t('frame.cancel')}</Dialog.Close>
            <button
              type="button"
              className="button danger"
              disabled={typed !== name}
              onClick={() => {
                setOpen(false);
                onConfirm();
              }}
            >
              {label}
            </button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
