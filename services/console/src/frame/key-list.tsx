/** All keys, by `?`. */
import { Dialog } from '@base-ui/react/dialog';
import { useState, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';
import { areShortcutsOn, setShortcutsOn, useShortcuts } from './shortcuts.js';

const keys = [
  ['?', 'keys.all'],
  ['/', 'keys.search'],
  ['n', 'keys.new'],
  ['j  k', 'keys.move'],
  ['x', 'keys.choose'],
  ['Enter', 'keys.open'],
  ['p', 'keys.pause'],
  ['r', 'keys.run'],
  ['e', 'keys.edit'],
  ['go', 'keys.go'],
  ['Ctrl K', 'keys.commands'],
  ['Ctrl S', 'keys.save'],
  ['Esc', 'keys.back'],
] as const;

/** `goTo`: the keys of the pages that the role may open. */
export function KeyList({ goTo }: { readonly goTo: readonly string[] }): ReactNode {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const [isOn, setOn] = useState(areShortcutsOn);
  useShortcuts({ '?': () => setOpen(true) });
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className="dialog-back" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>{t('keys.title')}</Dialog.Title>
          <table>
            <tbody>
              {keys.map(([key, text]) => (
                <tr key={key}>
                  <td>
                    {(key === 'go' ? goTo : key.split('  ')).map((one) => (
                      <span key={one}>
                        <kbd>{one}</kbd>{' '}
                      </span>
                    ))}
                  </td>
                  <td>{t(text)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <label className="bar">
            <input
              type="checkbox"
              checked={isOn}
              onChange={({ target }) => {
                setShortcutsOn(target.checked);
                setOn(target.checked);
              }}
            />
            {t('keys.on')}
          </label>
          <Dialog.Close className="button">{t('frame.close')}</Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
