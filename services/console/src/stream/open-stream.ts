/** One `EventSource` on the API's stream, made anew where it ended for good: a 503 in between ends it. */

export type ChangeKind = 'task' | 'execution' | 'delivery';

export type StreamMessage =
  | { readonly kind: 'state'; readonly isOpen: boolean; readonly at: string }
  | { readonly kind: ChangeKind; readonly data: unknown }
  | { readonly kind: 'removed'; readonly data: unknown }
  | { readonly kind: 'gap' };

const kinds = ['task', 'execution', 'delivery', 'removed'] as const;
const againMs = 3_000;

export function openStream(onMessage: (message: StreamMessage) => void): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let hasBeenOpen = false;
  const state = (isOpen: boolean): void => onMessage({ kind: 'state', isOpen, at: new Date().toISOString() });
  const open = (): void => {
    source = new EventSource('/api/stream');
    source.onopen = () => {
      // A new source has no last id: what was missed meanwhile is read again.
      if (hasBeenOpen) onMessage({ kind: 'gap' });
      hasBeenOpen = true;
      state(true);
    };
    source.onerror = () => {
      state(false);
      if (source?.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, againMs);
    };
    for (const kind of kinds) {
      source.addEventListener(kind, (event) => onMessage({ kind, data: JSON.parse(event.data as string) as unknown }));
    }
    source.addEventListener('gap', () => onMessage({ kind: 'gap' }));
  };
  open();
  return () => {
    if (timer !== null) clearTimeout(timer);
    source?.close();
  };
}
