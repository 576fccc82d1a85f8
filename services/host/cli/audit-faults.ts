/** Faults of stored events, as commands tell them: the first ones, and how many there are. */
import type { AuditFault } from './product.js';
import { plain, printNote } from './terminal.js';

/** The rest is counted: a store whose every event was changed is told in few lines. */
export const faultsShown = 1_000;

export const number = (value: number): string => value.toLocaleString('en-US');
export const counted = (count: number, what: string): string => `${number(count)} ${what}${count === 1 ? '' : 's'}`;

export function sayRest(faultCount: number): void {
  if (faultCount > faultsShown) printNote(`and ${number(faultCount - faultsShown)} more`);
}

export interface FaultsFound {
  readonly faults: readonly AuditFault[];
  readonly count: number;
}

/** `say`: tells each of the first ones as it is found. */
export function collectFaults(
  say: (text: string) => void,
): FaultsFound & { readonly found: (fault: AuditFault) => void } {
  const faults: AuditFault[] = [];
  let count = 0;
  return {
    faults,
    get count() {
      return count;
    },
    found: (fault) => {
      count += 1;
      if (count > faultsShown) return;
      faults.push(fault);
      say(plain(fault.text));
    },
  };
}
