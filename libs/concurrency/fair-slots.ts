/** Slots that several users share, each of whom may hold no more than a part of them. */

export interface FairSlots<Kind extends string> {
  /**
   * Resolves with what gives the slot back, once one is free and none of the keys holds its share already. First come first
   * served among those that may have it: one that waits for its own share delays nobody else.
   */
  acquire(keys: Readonly<Partial<Record<Kind, string>>>): Promise<() => void>;
  /** The same, where it need not be waited for; else null. */
  tryAcquire(keys: Readonly<Partial<Record<Kind, string>>>): (() => void) | null;
  /** The same, waited for no longer than that; else null. */
  acquireWithin(keys: Readonly<Partial<Record<Kind, string>>>, patienceMs: number): Promise<(() => void) | null>;
  readonly held: number;
  readonly waiting: number;
}

interface Holder {
  readonly labels: readonly (readonly [label: string, share: number])[];
}

interface Waiter extends Holder {
  readonly grant: () => void;
}

export interface FairSlotsOptions<Kind extends string> {
  readonly slots: number;
  /** How many slots one key of each kind may hold. */
  readonly shares: Readonly<Record<Kind, number>>;
}

export function createFairSlots<Kind extends string>({ slots, shares }: FairSlotsOptions<Kind>): FairSlots<Kind> {
  const heldBy = new Map<string, number>();
  const waiters = new Set<Waiter>();
  let held = 0;

  const labelsOf = (keys: Readonly<Partial<Record<Kind, string>>>): Holder['labels'] => {
    const labels: [string, number][] = [];
    for (const kind in keys) if (keys[kind] !== undefined) labels.push([`${kind} ${keys[kind]}`, shares[kind]]);
    return labels;
  };
  const mayHave = ({ labels }: Holder): boolean =>
    held < slots && labels.every(([label, share]) => (heldBy.get(label) ?? 0) < share);

  const count = ({ labels }: Holder, change: 1 | -1): void => {
    held += change;
    for (const [label] of labels) {
      const now = (heldBy.get(label) ?? 0) + change;
      if (now === 0) heldBy.delete(label);
      else heldBy.set(label, now);
    }
  };
  const grantNext = (): void => {
    for (const waiter of waiters) {
      if (held >= slots) return;
      if (mayHave(waiter)) waiter.grant();
    }
  };

  const hold = (holder: Holder): (() => void) => {
    count(holder, 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      count(holder, -1);
      grantNext();
    };
  };
  const wait = (holder: Holder, onGranted: (release: () => void) => void): Waiter => {
    const waiter: Waiter = {
      ...holder,
      grant() {
        waiters.delete(waiter);
        onGranted(hold(waiter));
      },
    };
    waiters.add(waiter);
    return waiter;
  };
  const tryAcquire = (holder: Holder): (() => void) | null => (mayHave(holder) ? hold(holder) : null);

  return {
    acquire(keys) {
      const holder = { labels: labelsOf(keys) };
      const release = tryAcquire(holder);
      return release === null ? new Promise((resolve) => void wait(holder, resolve)) : Promise.resolve(release);
    },
    acquireWithin(keys, patienceMs) {
      const holder = { labels: labelsOf(keys) };
      const release = tryAcquire(holder);
      if (release !== null) return Promise.resolve(release);
      return new Promise((resolve) => {
        const waiter = wait(holder, (granted) => {
          clearTimeout(timer);
          resolve(granted);
        });
        const timer = setTimeout(() => {
          waiters.delete(waiter);
          resolve(null);
        }, patienceMs);
      });
    },
    tryAcquire: (keys) => tryAcquire({ labels: labelsOf(keys) }),
    get held() {
      return held;
    },
    get waiting() {
      return waiters.size;
    },
  };
}
