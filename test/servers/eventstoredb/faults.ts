/** Faults that a test asks for: what the next appends and reads meet, and what happens to open subscriptions. */

export const appendFaults = [
  'late',
  'unavailable',
  'not-leader',
  'cut-before',
  'cut-after',
  'twice',
  'unanswered',
  'not-ready',
  'timeout-answer',
  'access-denied',
  'dropped-repeat',
] as const;
export type AppendFault = (typeof appendFaults)[number];
export const readFaults = [
  'unavailable',
  'not-leader',
  'silent',
  'stale-reads',
  'max-checkpoint',
  'access-denied',
  'unauthenticated',
] as const;
export type ReadFault = (typeof readFaults)[number];

export interface OpenSubscription {
  /** Ends the call; with an error where one is named. */
  end(error: 'unavailable' | 'cancelled' | 'unknown' | null): void;
  /** It stays open, and nothing comes any more. */
  silence(): void;
}

export interface Leader {
  readonly host: string;
  readonly port: number;
}

export function createFaults() {
  const appends: { fault: AppendFault; delayMs: number }[] = [];
  const reads: ReadFault[] = [];
  const subscriptions = new Set<OpenSubscription>();
  let refusing = false;
  let leader: Leader | null = null;

  return {
    subscriptions,
    /** Whom a not-leader answer names; null: this server itself. */
    get leader() {
      return leader;
    },
    set leader(named: Leader | null) {
      leader = named;
    },
    /** Every call is answered with UNAVAILABLE while it is set. */
    get refusing() {
      return refusing;
    },
    set refusing(on: boolean) {
      refusing = on;
    },
    planAppends(fault: AppendFault, count: number, delayMs: number): void {
      for (let planned = 0; planned < count; planned += 1) appends.push({ fault, delayMs });
    },
    planReads(fault: ReadFault, count: number): void {
      for (let planned = 0; planned < count; planned += 1) reads.push(fault);
    },
    nextAppend: () => appends.shift() ?? null,
    nextRead: () => reads.shift() ?? null,
    get planned() {
      return { appends: appends.length, reads: reads.length };
    },
    heal(): void {
      appends.length = 0;
      reads.length = 0;
      refusing = false;
      leader = null;
    },
  };
}

export type Faults = ReturnType<typeof createFaults>;
