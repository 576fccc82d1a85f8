/** A delivery that can be sent right now is stored by the append in which its first attempt begins: one write to the disk less. */
import { channels } from '#channels/channels';
import { attemptOnce, type AttemptDeps, type WaitingDelivery } from './attempt.js';
import type { LoadedDelivery } from './delivery-stream.js';
import { asSent } from './digest.js';
import { nothingEarlier } from './outgoing.js';
import type { PreparedAttempt } from './send.js';

/** Nothing has to come before it, and nothing has to be asked. */
function isDueAlone(delivery: LoadedDelivery, nowMs: number): delivery is WaitingDelivery {
  const { state } = delivery;
  if (state.status !== 'waiting' || Date.parse(state.nextAttemptAt) > nowMs) return false;
  const { follows, gatheredBy, provided, expiresAt, action } = state.request;
  const waits = follows !== undefined || gatheredBy !== undefined || provided !== undefined;
  return !waits && Date.parse(expiresAt) > nowMs && !channels[action.type].usesThread;
}

/**
 * `not_now`: nothing was written, as it has to wait for something. Else it is stored, of which `onStored` tells, and what is
 * answered is when to look at it again. Rejects where a part of Meerkat cannot be reached.
 */
export async function attemptAtOnce(
  deps: AttemptDeps,
  fresh: LoadedDelivery,
  onStored: () => void,
): Promise<number | null | 'not_now'> {
  const { sender, gate, slots, clock } = deps;
  if (deps.stopping.aborted || !isDueAlone(fresh, clock.now())) return 'not_now';
  const { request, linkBase } = fresh.state;
  /** The receiver whose slot is held. */
  let held: string | null = null;
  const enter = (receiver: string): boolean => {
    if (!gate.tryEnter(receiver)) return false;
    held = receiver;
    return true;
  };
  const leave: typeof gate.leave = (receiver, answered) => {
    held = null;
    gate.leave(receiver, answered);
  };
  const release = slots.tryAcquire({ organization: request.organizationId, task: request.taskId });
  if (release === null) return 'not_now';
  try {
    const expected = sender.expectedReceiver(request.action);
    if (expected !== null && !enter(expected)) return 'not_now';
    const prepared: PreparedAttempt = await sender.prepare(asSent(fresh.state), linkBase, {
      ...nothingEarlier,
      isRepeat: false,
    });
    const { receiver } = prepared;
    if (receiver !== held) {
      if (held !== null) leave(held, null);
      if (receiver !== null && !enter(receiver)) return 'not_now';
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
    release();
  }
}
