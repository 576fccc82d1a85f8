/** Short words at the edge about what was just done, with a way back where there is one. */
import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { useTexts } from '../text/text.js';

const shownMs = 10_000;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo?: (() => void) | undefined;
}

type ShowToast = (text: string, undo?: () => void) => void;
const ToastContext = createContext<ShowToast>(() => undefined);

export const useToast = (): ShowToast => useContext(ToastContext);

export function ToastProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { t } = useTexts();
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const dismiss = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), []);
  const show = useCallback<ShowToast>(
    (text, undo) => {
      const id = performance.now();
      setToasts((shown) => [...shown.slice(-2), { id, text, undo }]);
      setTimeout(() => dismiss(id), shownMs);
    },
    [dismiss],
  );
  const shown = useMemo(() => toasts, [toasts]);
  return (
    <ToastContext value={show}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {shown.map(({ id, text, undo }) => (
          <div className="toast" key={id}>
            <span>{text}</span>
            {undo !== undefined && (
              <button
                type="button"
                onClick={() => {
                  dismiss(id);
                  undo();
                }}
              >
                {t('frame.undo')}
              </button>
            )}
            <button type="button" aria-label={t('frame.dismiss')} onClick={() => dismiss(id)}>
              ×
            </button>
          </div>
        ))}
      </div>
    </ToastContext>
  );
}
