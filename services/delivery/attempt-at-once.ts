/** A delivery that can be sent right now is stored by the append in which its first attempt begins: one write to the disk less. */
import { channels } from '#channels/channels';
import { attemptOnce, type AttemptDeps, type WaitingDelivery } from './attempt.js';
import type { LoadedDelivery } from './delivery-stream.js';
import { asSent } from './digest.js';
import { nothingEarlier } from './outgoing.js';

/** Nothing has to come before it that may not be there yet, and nothing has to be asked. */
function isDueAlone(
  { isBegun }: Pick<AttemptDeps, 'isBegun'>,
  delivery: LoadedDelivery,
  nowMs: number,
): delivery is WaitingDelivery {
  const { state } = delivery;
  if (state.status !== 'waiting' || Date.parse(state.nextAttemptAt) > nowMs) return false;
  const { kind, follows, gatheredBy, provided, expiresAt, action } = state.request;
  const isBehind = follows !== undefined && (kind === 'recovered' || !isBegun(follows));
  const waits = isBehind || gatheredBy !== undefined || provided !== undefined;
  return !waits && Date.parse(expiresAt) > nowMs && !channels[action.type].usesThread;
}

export interface AtOnce {
  /** Its message takes long to be made: it is to be stored before, and the attempt goes on. */
  readonly onLate: () => void;
  readonly onStored: () => void;
}

/** For a message to be made. */
const madeWithinMs = 100;
/** For a slot of the shares, while one of the receiver may be held. */
const slotWithinMs = 250;

/**
 * `not_now`: nothing was written, as it has to wait for something. Else it is stored, of which `onStored` tells, and what is
 * answered is when to look at it again. Rejects where a part of Meerkat cannot be reached.
 */
export async function attemptAtOnce(
  deps: AttemptDeps,
  fresh: LoadedDelivery,
  { onLate, onStored }: AtOnce,
): Promise<number | null | 'not_now'> {
  const { sender, gate, slots, clock } = deps;
  if (deps.stopping.aborted || !isDueAlone(deps, fresh, clock.now())) return 'not_now';
  const { request, linkBase } = fresh.state;
  /** The receiver whose slot is held. */
  let held: string | null = null;
  const enter = async (receiver: string): Promise<boolean> => {
    if (!(await gate.enterSoon(receiver, fresh.id))) return false;
    held = receiver;
    return true;
  };
  const leave: typeof gate.leave = (receiver, answered) => {
    held = null;
    gate.leave(receiver, answered);
  };
  let release: (() => void) | null = null;
  try {
    const expected = sender.expectedReceiver(request.action);
    if (expected !== null && !(await enter(expected))) return 'not_now';
    const keys = { organization: request.organizationId, task: request.taskId };
    release = await slots.acquireWithin(keys, slotWithinMs);
    if (release === null) return 'not_now';
    const late = setTimeout(onLate, madeWithinMs);
    const prepared = await sender
      .prepare(asSent(fresh.state), linkBase, { ...nothingEarlier, isRepeat: false })
      .finally(() => clearTimeout(late));
    const { receiver } = prepared;
    if (receiver !== held) {
      if (held !== null) leave(held, null);
      if (receiver !== null && !(await enter(receiver))) return 'not_now';
    }
    if (deps.stopping.aborted) return 'not_now';
    return await attemptOnce(
      deps,
      fresh,
      prepared,
      ({ result, reached }) => {
        if (held !== null) leave(held, { reached, durationMs: result.record.durationMs });
      },
      onStored,
    );
  } finally {
    if (held !== null) leave(held, null);
    release?.();
  }
}
