/** Which tasks are chosen: one by one, a range with shift, or all that match. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { conditionsOf, type TaskFilter } from './task-filter.js';
import type { Chosen } from './bulk.js';

export interface Selection {
  readonly has: (id: string) => boolean;
  readonly isEmpty: boolean;
  /** Null where all that match are chosen. */
  readonly count: number | null;
  readonly chosen: Chosen;
  readonly choose: (index: number, isRange: boolean) => void;
  readonly chooseAll: () => void;
  readonly clear: () => void;
}

export function useSelection(filter: TaskFilter, idAt: (index: number) => string | undefined): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [areAll, setAll] = useState(false);
  const last = useRef<number | null>(null);
  const current = useRef(idAt);
  current.current = idAt;
  const clear = useCallback(() => {
    setIds(new Set());
    setAll(false);
    last.current = null;
  }, []);
  useEffect(clear, [filter, clear]);
  const choose = useCallback((index: number, isRange: boolean) => {
    const from = isRange && last.current !== null ? last.current : index;
    const first = Math.min(index, from);
    const range = Array.from({ length: Math.abs(index - from) + 1 }, (_, step) => current.current(first + step));
    last.current = index;
    setAll(false);
    setIds((before) => {
      const next = new Set(before);
      const isAdded = !before.has(current.current(index) ?? '');
      for (const id of range) if (id !== undefined) next[isAdded ? 'add' : 'delete'](id);
      return next;
    });
  }, []);
  return {
    has: (id) => areAll || ids.has(id),
    isEmpty: ids.size === 0 && !areAll,
    count: areAll ? null : ids.size,
    chosen: areAll ? { filter: conditionsOf(filter) } : { ids: [...ids] },
    choose,
    chooseAll: useCallback(() => setAll(true), []),
    clear,
  };
}
