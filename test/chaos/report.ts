/** What happened and what came of it, for people. */
import type { Happened } from './fault.js';
import type { Verdict } from './judge.js';

export interface Outcome {
  readonly mode: string;
  readonly seed: number;
  readonly events: number;
  readonly happened: readonly Happened[];
  readonly drainMs: number;
  readonly verdicts: readonly Verdict[];
}

/** Past the test runner, which keeps what is printed to itself. */
export function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

const seconds = (milliseconds: number): string => (milliseconds / 1_000).toFixed(1);
const shownViolations = 5;

export function report(outcomes: readonly Outcome[]): void {
  const lines: string[] = [''];
  let kills = 0;
  let faults = 0;
  let violations = 0;
  for (const { mode, seed, events, happened, drainMs, verdicts } of outcomes) {
    kills += happened.filter(({ isKill }) => isKill).length;
    faults += happened.filter(({ isKill }) => !isKill).length;
    lines.push(`${mode}, seed ${seed}: ${happened.length} faults, ${events} events, drained in ${seconds(drainMs)} s`);
    for (const [name, same] of Map.groupBy(happened, (one) => one.name)) {
      const times = same.map(({ healedMs }) => healedMs).toSorted((a, b) => a - b);
      const median = times[Math.floor(times.length / 2)] ?? 0;
      lines.push(
        `  ${String(same.length).padStart(4)} × ${name.padEnd(52)} healed in ${seconds(median)} s, at most ${seconds(times.at(-1) ?? 0)} s`,
      );
    }
    for (const verdict of verdicts) {
      violations += verdict.violations.length;
      lines.push(`  ${verdict.violations.length === 0 ? 'ok    ' : 'BROKEN'} ${verdict.invariant}`);
      for (const violation of verdict.violations.slice(0, shownViolations)) {
        lines.push(`           ${violation.slice(0, 400)}`);
      }
      const more = verdict.violations.length - shownViolations;
      if (more > 0) lines.push(`           and ${more} more`);
    }
  }
  lines.push(`${kills} kills, ${faults} other faults, ${violations} violations`, '');
  process.stdout.write(lines.join('\n'));
}
