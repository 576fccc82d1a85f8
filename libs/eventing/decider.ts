/** The shape of an aggregate: values and two pure functions. Time, ids and randomness arrive inside the command. */
import type { Fold } from '#contracts/event';

export interface Decider<State, Command, Event> extends Fold<State, Event> {
  /** What follows from a command; nothing to do is `[]`; what is not allowed throws `reject(…)`. */
  decide(command: Command, state: State): readonly Event[];
}

export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}
