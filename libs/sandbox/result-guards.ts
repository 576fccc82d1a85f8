/** Guards of what results hold, for both borders that a result crosses: out of the guest, and out of the evaluator process. */
import { isJsonObject } from '#runtime/json';
import { sandboxFailureReasons, touchable } from './sandbox.js';
import type { LogLine, SandboxFailureReason, Touchable } from './sandbox.js';

const levels: ReadonlySet<unknown> = new Set<LogLine['level']>(['log', 'info', 'warn', 'error', 'debug']);
const reasons: ReadonlySet<unknown> = new Set(sandboxFailureReasons);
const touchables: ReadonlySet<unknown> = new Set(touchable);

export function isLogLine(value: unknown): value is LogLine {
  return isJsonObject(value) && levels.has(value['level']) && typeof value['message'] === 'string';
}

export function isFailureReason(value: unknown): value is SandboxFailureReason {
  return reasons.has(value);
}

export function isTouchable(value: unknown): value is Touchable {
  return touchables.has(value);
}
