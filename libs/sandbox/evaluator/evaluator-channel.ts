/** The way to one evaluator process, wherever it runs. */
import type { Duplex } from 'node:stream';
import type { EvaluatorSettings } from './messages.js';
import type { ProcessorUse } from './processor-use.js';

export interface EvaluatorChannel {
  /** Frames in both directions (`frames.ts`). */
  readonly pipe: Duplex;
  /** Undefined where the process was not started, or runs out of sight of this one. */
  readonly pid: number | undefined;
  /** What it has had of the processors so far; null where that cannot be seen from here. */
  processorUse(): ProcessorUse | null;
  /** Whether it keeps this process running. */
  hold(isHeld: boolean): void;
  /** Ends the process and all that it holds; `ended` follows. */
  kill(): void;
  /** How it ended, in words. Never rejects. */
  readonly ended: Promise<string>;
}

/** `shared`: for all jobs. `quarantine`: for jobs that were there when a process died, one at a time. */
export const evaluatorUses = ['shared', 'quarantine'] as const;
export type EvaluatorUse = (typeof evaluatorUses)[number];

/** Throws where no process can be started. */
export type OpenEvaluator = (settings: EvaluatorSettings, use: EvaluatorUse) => EvaluatorChannel;
