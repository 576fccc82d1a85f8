/** A value that was a number run after run and is none any more: the code finds something else on the page, or nothing. */
import type { AlertState, RunResult } from '#contracts/run';
import { ownMember, type JsonObject } from '#runtime/json';

/** So many runs in a row make a number expected. */
const expectedAfterRuns = 10;
/** Of further names nothing is expected. */
const mostNames = 20;

/** The first name whose number is missing; null: none is. */
export function lostValue({ numbers = {} }: AlertState, values: JsonObject): string | null {
  const isLost = ([name, runs]: [string, number]): boolean =>
    runs >= expectedAfterRuns && typeof ownMember(values, name) !== 'number';
  return Object.entries(numbers).find(isLost)?.[0] ?? null;
}

/** In how many runs in a row each value was a number, once these were reported. */
export function countNumbers({ numbers = {}, ...alert }: AlertState, values: JsonObject): AlertState {
  const reported = Object.entries(values).filter(([, value]) => typeof value === 'number');
  const counted = reported
    .slice(0, mostNames)
    .map(([name]) => [name, Math.min(expectedAfterRuns, (ownMember(numbers, name) ?? 0) + 1)] as const);
  return counted.length === 0 ? alert : { ...alert, numbers: Object.fromEntries(counted) };
}

/** What the code found counts as an error: a value of it is missing. */
export function withLostValue<Found extends Pick<RunResult, 'status' | 'outcome' | 'error'>>(
  found: Found,
  name: string,
): Found {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  const message = `The value ${shown} was a number in the last ${expectedAfterRuns} runs, and is none now.`;
  return { ...found, status: 'failed', outcome: null, error: { reason: 'value_lost', message } };
}
