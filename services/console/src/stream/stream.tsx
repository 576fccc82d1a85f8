/** What changes as it happens, handed to pages in batches; and whether the server is reached at all. */
import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { Delivery, Execution, RecentRuns, Task } from '../api/types.js';
import { openStream, type StreamMessage } from './open-stream.js';

export type ChangedTask = Task & { readonly recent?: RecentRuns };

export interface Changes {
  readonly tasks: readonly ChangedTask[];
  readonly executions: readonly Execution[];
  readonly deliveries: readonly Delivery[];
  readonly removed: readonly { readonly kind: string; readonly id: string }[];
}

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
    let gathered: { kind: StreamMessage['kind']; data: unknown }[] = [];
    let timer: ReturnType<typeof setTimeout> | null = null;
    const hand = (): void => {
      timer = null;
      const of = <T,>(kind: StreamMessage['kind']): T[] =>
        gathered.filter((message) => message.kind === kind).map(({ data }) => data as T);
      const changes: Changes = {
        tasks: of<ChangedTask>('task'),
        executions: of<Execution>('execution'),
        deliveries: of<Delivery>('delivery'),
        removed: of<{ kind: string; id: string }>('removed'),
      };
      gathered = [];
      for (const listener of listeners.current) listener(changes);
    };
    const close = connect((message) => {
      switch (message.kind) {
        case 'state':
          setLostAt((before) => (message.isOpen ? null : (before ?? message.at)));
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
