/** Whether a time lies in quiet hours: by the clock on the wall of the zone, so that clock changes need no rule of their own. */
import type { QuietWindow } from '#contracts/policy';
import { isInWindow } from '#calendar/windows';

export function isQuiet(quietHours: readonly QuietWindow[], at: string): boolean {
  return quietHours.some((window) => isInWindow(window, window.timezone, Date.parse(at)));
}
