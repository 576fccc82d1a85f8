/** A program of this machine, which the operator has named: it gets the message by its environment and on its standard input. */
import { spawn } from 'node:child_process';
import { createSemaphore } from '#concurrency/semaphore';
import type { CommandMessage, PeerAnswer } from '#channels/peer';

const mostAtOnce = 8;
const keptBytes = 8_192;
/** Between asking a program to end and ending it. */
const graceMs = 5_000;
/** Nothing of this process's own environment: it holds the operator's secrets. */
const plainEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/', LANG: 'C.UTF-8' } as const;

/** The whole group, so that what a program started ends with it. */
function endGroup(pid: number | undefined, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // It has ended already.
  }
}

function runOne({ file, args, env, input, timeoutMs }: CommandMessage, signal: AbortSignal): Promise<PeerAnswer> {
  return new Promise((resolve) => {
    const child = spawn(file, [...args], {
      shell: false,
      cwd: '/',
      env: { ...plainEnvironment, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    let said = '';
    let endedBy: 'timed_out' | 'aborted' | null = null;
    let killing: NodeJS.Timeout | undefined;
    const listen = (chunk: Buffer): void => {
      if (said.length < keptBytes) said += chunk.toString().slice(0, keptBytes - said.length);
    };
    const end = (why: 'timed_out' | 'aborted'): void => {
      if (endedBy !== null) return;
      endedBy = why;
      endGroup(child.pid, 'SIGTERM');
      killing = setTimeout(() => endGroup(child.pid, 'SIGKILL'), graceMs);
    };
    const onAbort = (): void => end('aborted');
    const timer = setTimeout(() => end('timed_out'), timeoutMs);
    const settle = (answer: PeerAnswer): void => {
      clearTimeout(timer);
      clearTimeout(killing);
      signal.removeEventListener('abort', onAbort);
      // What it left behind would go on with nobody to wait for it, and hold the pipes.
      endGroup(child.pid, 'SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(answer);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    // A program that does not read its input is none the worse for it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.on('error', (error) => {
      const code = 'code' in error ? String(error.code) : 'failed';
      settle({ ok: true, code, text: `The program could not be started (${code}).` });
    });
    child.on('exit', (status, killedBy) => {
      if (endedBy === 'aborted') {
        settle({
          ok: false,
          reason: 'aborted',
          message: 'The service was stopped before the program ended.',
          sent: true,
        });
      } else if (endedBy === 'timed_out') {
        settle({ ok: false, reason: 'timed_out', message: 'The program did not end in time.', sent: true });
      } else settle({ ok: true, code: killedBy ?? status ?? 'failed', text: said });
    });
  });
}

/** `allowed`: what the operator names, to the letter; the setting may have changed since the action was saved. */
export function createCommands(allowed: readonly string[]) {
  const slots = createSemaphore(mostAtOnce);
  return async (message: CommandMessage, signal: AbortSignal): Promise<PeerAnswer> => {
    if (!allowed.includes(message.file)) {
      const text = 'The operator does not let actions run this program: COMMANDS does not name it.';
      return { ok: true, code: 'not_allowed', text };
    }
    return slots.run(() => runOne(message, signal));
  };
}
