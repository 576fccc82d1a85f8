/** Short words at the edge: about what was just done, with a way back where there is one; what failed stays until it was read. */
import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from 'react';
import { Coded } from '../text/coded.js';
import { useTexts } from '../text/text.js';

const shownMs = 10_000;
/** Of those that vanish by themselves. */
const mostShown = 3;

interface Toast {
  readonly id: number;
  readonly text: string;
  /** It stays until it is dismissed. */
  readonly isFailure: boolean;
  /** Undo, or for a failure: once more. */
  readonly act?: (() => void) | undefined;
}

interface Toasts {
  readonly done: (text: string, undo?: () => void) => void;
  readonly failed: (text: string, retry?: () => void) => void;
}

const ToastContext = createContext<Toasts>({ done: () => undefined, failed: () => undefined });

export const useToast = (): Toasts['done'] => useContext(ToastContext).done;
/** For what goes wrong where nothing on the page shows it: it says what to do, which takes longer to read than a word does. */
export const useFailureToast = (): Toasts['failed'] => useContext(ToastContext).failed;

function OneToast({ toast, onDismiss }: { readonly toast: Toast; readonly onDismiss: () => void }): ReactNode {
  const { t } = useTexts();
  const { text, isFailure, act } = toast;
  return (
    <div className="toast" role={isFailure ? 'alert' : undefined}>
      <span>
        <Coded text={text} />
      </span>
      {act !== undefined && (
        <button
          type="button"
          onClick={() => {
            onDismiss();
            act();
          }}
        >
          {t(isFailure ? 'problem.retry' : 'frame.undo')}
        </button>
      )}
      <button type="button" aria-label={t('frame.dismiss')} onClick={onDismiss}>
        ×
      </button>
    </div>
  );
}

export function ToastProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const nextId = useRef(0);
  const dismiss = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), []);
  const show = useCallback((toast: Omit<Toast, 'id'>): number => {
    const id = (nextId.current += 1);
    // What failed twice in the same way is said once.
    const isOther = ({ text, isFailure }: Toast): boolean => !(isFailure && toast.isFailure && text === toast.text);
    setToasts((shown) => [...shown.filter(isOther), { ...toast, id }]);
    return id;
  }, []);
  const calls = useMemo<Toasts>(
    () => ({
      done: (text, undo) => {
        const id = show({ text, isFailure: false, act: undo });
        setTimeout(() => dismiss(id), shownMs);
      },
      failed: (text, retry) => void show({ text, isFailure: true, act: retry }),
    }),
    [show, dismiss],
  );
  const shownAs = (toast: Toast): ReactNode => (
    <OneToast key={toast.id} toast={toast} onDismiss={() => dismiss(toast.id)} />
  );
  return (
    <ToastContext value={calls}>
      {children}
      <div className="toasts">
        {toasts.filter(({ isFailure }) => isFailure).map(shownAs)}
        <div className="toasts-done" role="status" aria-live="polite">
          {toasts
            .filter(({ isFailure }) => !isFailure)
            .slice(-mostShown)
            .map(shownAs)}
        </div>
      </div>
    </ToastContext>
  );
}
