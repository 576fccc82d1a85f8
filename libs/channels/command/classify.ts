/** Command: what the end of a program means, by the usual codes (sysexits.h). */
import { goneReason, type Verdict } from '../channel.js';
import type { PeerAnswer } from '../peer.js';
import { unanswered } from '../peer-answer.js';

/** EX_TEMPFAIL, a signal, and what the machine has too little of. */
const passing: ReadonlySet<string | number> = new Set([75, 'EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']);
/** It cannot be run at all. */
const dead: ReadonlySet<string | number> = new Set([126, 127, 'ENOENT', 'EACCES', 'EINVAL', 'not_allowed']);

export function classifyCommand(answer: PeerAnswer): Verdict {
  if (!answer.ok) return { ...unanswered(answer), unreachable: false };
  const { code, text } = answer;
  const response = { status: typeof code === 'number' ? code : -1, body: text };
  const unreachable = false;
  if (code === 0) return { state: 'delivered', response, unreachable };
  const said = code === 'not_allowed' ? text : `The program ended with ${code}.`;
  if (dead.has(code)) {
    return { state: 'refused', reason: goneReason, message: `${said} The action was disabled.`, response, unreachable };
  }
  if (passing.has(code) || String(code).startsWith('SIG')) {
    return { state: 'retry', reason: 'program_deferred', message: said, retryAfterMs: null, response, unreachable };
  }
  return { state: 'refused', reason: 'program_failed', message: said, response, unreachable };
}
