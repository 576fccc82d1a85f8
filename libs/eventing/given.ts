/** The spec kit of aggregates: events in, a command, events out. Nothing but values. */
import { expect } from '@jest/globals';
import { AppError } from '#runtime/errors';
import type { Decider, DomainEvent } from './decider.js';

interface Outcome<Event> {
  /** Exactly these events; deciding the same command again on what they lead to must yield nothing where `idempotent`. */
  then(...expected: readonly Event[]): Outcome<Event>;
  thenNothing(): void;
  thenRejected(reason: string): void;
  /** The same command again changes nothing. */
  andAgainNothing(): void;
}

export function given<State, Command, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  ...past: readonly Event[]
): { when(command: Command): Outcome<Event> } {
  const evolve = (state: State, events: readonly Event[]): State =>
    events.reduce((current, event) => decider.evolve(current, event), state);
  const state = evolve(decider.initial, past);
  return {
    when(command) {
      const decide = (): readonly Event[] => decider.decide(command, state);
      const outcome: Outcome<Event> = {
        then(...expected) {
          expect(decide()).toEqual(expected);
          return outcome;
        },
        thenNothing() {
          expect(decide()).toEqual([]);
        },
        thenRejected(reason) {
          let thrown: unknown = null;
          try {
            decide();
          } catch (error) {
            thrown = error;
          }
          expect(thrown).toBeInstanceOf(AppError);
          expect(thrown).toMatchObject({ reason });
        },
        andAgainNothing() {
          expect(decider.decide(command, evolve(state, decide()))).toEqual([]);
        },
      };
      return outcome;
    },
  };
}
