/** The shape of an aggregate: values and two pure functions. Time, ids and randomness arrive inside the command. */

export interface Decider<State, Command, Event> {
  readonly initial: State;
  /** Never throws and never validates: what is recorded, happened. */
  evolve(state: State, event: Event): State;
  /** What follows from a command; nothing to do is `[]`; what is not allowed throws `reject(…)`. */
  decide(command: Command, state: State): readonly Event[];
}

export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}
