import { useEffect, useRef, type RefObject } from 'react';
import { faultOf } from '../api/problem.js';

/** For the field that is refused by `error`: it has the focus then, once more for each refusal, since the words at it stay the same. */
export function useFocusOnFault(error: unknown, field: string): RefObject<HTMLInputElement | null> {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (faultOf(error, field) !== null) input.current?.focus();
  }, [error, field]);
  return input;
}
