/** What of a task is folded: day by day, its runs and its deliveries, each day once. */
import type { DeliveriesFolded, FoldEvent, FoldState, RunsFolded } from '#contracts/retention';
import type { Decider } from '#eventing/decider';
import { unreachable } from '#runtime/errors';

export const initial: FoldState = {
  runsThrough: null,
  upTo: { run: 0, schedule: 0, claim: 0 },
  stays: { run: 0, schedule: 0, claim: 0 },
  trueSince: null,
  pages: { episode: null, first: null },
  deliveriesThrough: null,
};

export type FoldCommand =
  | {
      readonly type: 'foldRuns';
      readonly day: Omit<RunsFolded, 'state'>;
      readonly after: Pick<FoldState, 'upTo' | 'stays' | 'trueSince' | 'pages'>;
    }
  | {
      readonly type: 'foldDeliveries';
      readonly day: Omit<DeliveriesFolded, 'state' | 'freedIds'>;
      /** What the open episode points to. */
      readonly pointedTo: ReadonlySet<string>;
    };

export function evolve(_state: FoldState, event: FoldEvent): FoldState {
  return event.data.state;
}

const isFolded = (day: string, through: string | null): boolean => through !== null && day <= through;

export function decide(command: FoldCommand, state: FoldState): readonly FoldEvent[] {
  switch (command.type) {
    case 'foldRuns': {
      const { day, after } = command;
      if (isFolded(day.day, state.runsThrough)) return [];
      return [{ type: 'runs.folded', data: { ...day, state: { ...state, ...after, runsThrough: day.day } } }];
    }
    case 'foldDeliveries': {
      const { day, pointedTo } = command;
      if (isFolded(day.day, state.deliveriesThrough)) return [];
      const { deliveriesLeft = [], ...before } = state;
      const freedIds = deliveriesLeft.filter((id) => !pointedTo.has(id));
      const left = [...deliveriesLeft, ...day.deliveryIds].filter((id) => pointedTo.has(id));
      const after = { ...before, deliveriesThrough: day.day, ...(left.length === 0 ? {} : { deliveriesLeft: left }) };
      return [
        {
          type: 'deliveries.folded',
          data: { ...day, ...(freedIds.length === 0 ? {} : { freedIds }), state: after },
        },
      ];
    }
    default:
      return unreachable(command);
  }
}

export const foldDecider: Decider<FoldState, FoldCommand, FoldEvent> = { initial, evolve, decide };
