/** Keys without a modifier: they do nothing while something is being typed, and can be turned off. */
import { useEffect, useRef } from 'react';

const storageKey = 'meerkat.shortcuts';

export const areShortcutsOn = (): boolean => localStorage.getItem(storageKey) !== 'off';
export const setShortcutsOn = (on: boolean): void => localStorage.setItem(storageKey, on ? 'on' : 'off');

/** Fields that take no letters leave the keys to the page. */
const takesNoLetters = 'input:is([type=checkbox], [type=radio], [type=button], [type=submit], [type=range])';

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || (target.matches('input, textarea, select') && !target.matches(takesNoLetters));
}

/** What Enter does by itself where the focus is: follows a link, presses a button, opens a fold. */
function takesEnter(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a[href], button, summary, select') !== null;
}

const sequenceMs = 1_000;

/** Keys by name, `g t` being one after the other. What opens in front of the page takes keys for itself. */
export function useShortcuts(keys: Readonly<Record<string, () => void>>): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let before: { readonly key: string; readonly at: number } | null = null;
    const press = (event: KeyboardEvent): void => {
      const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
      if (hasModifier || event.defaultPrevented || isTyping(event.target) || !areShortcutsOn()) return;
      if (document.querySelector('[role="dialog"], [role="menu"]') !== null) return;
      if (event.key === 'Enter' && takesEnter(event.target)) return;
      const isSecond = before !== null && event.timeStamp - before.at < sequenceMs;
      const both = isSecond && before !== null ? `${before.key} ${event.key}` : event.key;
      const run = current.current[both] ?? current.current[event.key];
      before = { key: event.key, at: event.timeStamp };
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}

/** Ctrl-S, also while something is being typed. */
export function useSaveKey(save: () => void): void {
  const current = useRef(save);
  current.current = save;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      current.current();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}
