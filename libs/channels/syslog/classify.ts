/** Syslog: what became of a message. Nothing is answered: what was sent counts as delivered. */
import type { Verdict } from '../channel.js';
import type { PeerAnswer } from '../peer.js';
import { unanswered } from '../peer-answer.js';

export function classifySyslog(answer: PeerAnswer): Verdict {
  return answer.ok ? { state: 'delivered', response: null, unreachable: false } : unanswered(answer);
}
