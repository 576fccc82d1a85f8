/** What changes as it happens, handed to pages in batches; and whether the server is reached at all. */
import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { sessionKey } from '../session/session.js';
import { changesOf, type BroughtMessage, type Changes } from './changes.js';
import { openStream, type StreamMessage } from './open-stream.js';

type Listener = (changes: Changes) => void;

interface Stream {
  readonly lostAt: string | null;
  readonly subscribe: (listener: Listener) => () => void;
}

const StreamContext = createContext<Stream>({ lostAt: null, subscribe: () => () => undefined });
/** Changes of that long are handed on together. */
const gatherMs = 100;

/** All tabs share one stream where the browser can; each has its own elsewhere. */
function connect(onMessage: (message: StreamMessage) => void): () => void {
  if (typeof SharedWorker === 'undefined') return openStream(onMessage);
  const worker = new SharedWorker(new URL('./stream-worker.ts', import.meta.url), { type: 'module', name: 'meerkat' });
  worker.port.onmessage = ({ data }: MessageEvent<StreamMessage>) => onMessage(data);
  worker.port.start();
  const bye = (): void => worker.port.postMessage('bye');
  window.addEventListener('pagehide', bye);
  return () => {
    window.removeEventListener('pagehide', bye);
    bye();
  };
}

export function StreamProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const client = useQueryClient();
  const listeners = useRef(new Set<Listener>());
  const [lostAt, setLostAt] = useState<string | null>(null);
  useEffect(() => {
    let gathered: BroughtMessage[] = [];
    let timer: ReturnType<typeof setTimeout> | null = null;
    const hand = (): void => {
      timer = null;
      const changes = changesOf(gathered);
      gathered = [];
      for (const listener of listeners.current) listener(changes);
    };
    const close = connect((message) => {
      switch (message.kind) {
        case 'state':
          setLostAt((before) => (message.isOpen ? null : (before ?? message.at)));
          // It ends with the session too, and does not say why it ended.
          if (!message.isOpen) void client.invalidateQueries({ queryKey: sessionKey });
          return;
        case 'gap':
          void client.invalidateQueries();
          return;
        default:
          gathered.push(message);
          timer ??= setTimeout(hand, gatherMs);
      }
    });
    return () => {
      if (timer !== null) clearTimeout(timer);
      close();
    };
  }, [client]);
  const stream = useMemo<Stream>(
    () => ({
      lostAt,
      subscribe: (listener) => {
        listeners.current.add(listener);
        return () => listeners.current.delete(listener);
      },
    }),
    [lostAt],
  );
  return <StreamContext value={stream}>{children}</StreamContext>;
}

export const useConnection = (): Pick<Stream, 'lostAt'> => useContext(StreamContext);

/** Calls `listener` with each batch of changes while the page is shown. */
export function useChanges(listener: Listener): void {
  const { subscribe } = useContext(StreamContext);
  const current = useRef(listener);
  current.current = listener;
  useEffect(() => subscribe((changes) => current.current(changes)), [subscribe]);
}
