/** The two buttons that end the head of a card whose thing can be edited in place. */
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';

export function EditAndRemove({
  isEdited,
  isOff,
  isRemoving,
  isPlain = false,
  onEdit,
  onRemove,
}: {
  /** Its form is open: the first button closes it. */
  readonly isEdited: boolean;
  readonly isOff: boolean;
  readonly isRemoving: boolean;
  readonly isPlain?: boolean;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}): ReactNode {
  const { t } = useTexts();
  const look = isPlain ? 'button plain' : 'button';
  return (
    <>
      <button type="button" className={look} disabled={isOff} onClick={onEdit}>
        {t(isEdited ? 'frame.cancel' : 'actions.edit')}
      </button>
      <button type="button" className={`${look} danger`} disabled={isOff || isRemoving} onClick={onRemove}>
        {t('actions.remove')}
      </button>
    </>
  );
}
