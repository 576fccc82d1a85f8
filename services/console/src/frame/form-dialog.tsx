/** A button that opens a form in a dialog: what it asks for, what went wrong, and a way out beside the way on. */
import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { ProblemNotice } from './problem-notice.js';

export function FormDialog(props: {
  /** On the button that opens it. */
  readonly label: string;
  readonly title?: string;
  readonly what?: string;
  readonly submit: string;
  readonly isPlain?: boolean;
  readonly isDisabled?: boolean;
  /** Why the button is off. */
  readonly why?: string | undefined;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
  readonly error: unknown;
  readonly isBusy: boolean;
  /** It stays open when it is done. */
  readonly staysOpen?: boolean;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const { t } = useTexts();
  const { title = props.label, error } = props;
  return (
    <Dialog.Root open={props.isOpen} onOpenChange={props.onOpen}>
      <Dialog.Trigger
        className={props.isPlain === true ? 'button plain' : 'button'}
        disabled={props.isDisabled}
        title={props.why}
      >
        {props.label}
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="dialog-back" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>{title}</Dialog.Title>
          {props.what !== undefined && <Dialog.Description className="muted">{props.what}</Dialog.Description>}
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              props.onSubmit();
            }}
          >
            {props.children}
            {error !== null && error !== undefined && <ProblemNotice error={error} />}
            <div className="bar">
              <span className="grow" />
              <Dialog.Close className="button">
                {t(props.staysOpen === true ? 'frame.close' : 'frame.cancel')}
              </Dialog.Close>
              <button type="submit" className="button main" disabled={props.isBusy}>
                {props.submit}
              </button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
