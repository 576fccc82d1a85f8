/** Where the kernel weighs sessions against one another, it does so before it looks at niceness within one (autogroups of Linux). */
import { readFileSync, writeFileSync } from 'node:fs';

const autogroupOf = (pid: number | 'self'): string => readFileSync(`/proc/${pid}/autogroup`, 'utf8').trim();

/**
 * The session of that process gets the weight of this niceness, 0 to 19, unless it is the session of this process too.
 * Throws where the process is gone, or the kernel has no such weights or does not let this user set one now.
 */
export function yieldAsSession(pid: number, niceness: number): void {
  const group = autogroupOf(pid);
  const [name = ''] = group.split(' ');
  if (autogroupOf('self').startsWith(`${name} `) || group.endsWith(` nice ${niceness}`)) return;
  writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
}
