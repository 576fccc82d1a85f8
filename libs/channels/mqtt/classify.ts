/** MQTT: what a broker's answers mean, by the reason in CONNACK or PUBACK: those of 3.1.1 below 0x80, those of 5 above. */
import type { Verdict } from '../channel.js';
import { goneReason } from '../channel.js';
import type { PeerAnswer } from '../peer.js';
import { unanswered } from '../peer-answer.js';

/** Server unavailable (3.1.1), and of 5: unspecified, implementation, unavailable, busy, quota, rate. */
const passing: ReadonlySet<string | number> = new Set([3, 0x80, 0x83, 0x88, 0x89, 0x97, 0x9f]);
/** Of one message: not authorized to this topic, topic, packet size, payload format, retain and QoS not supported. */
const ofTheMessage: ReadonlySet<string | number> = new Set([0x90, 0x95, 0x99, 0x9a, 0x9b]);
/** The version of the protocol. */
const versions: ReadonlySet<string | number> = new Set([1, 0x84]);
const waitMs = 30_000;

export function classifyMqtt(answer: PeerAnswer): Verdict {
  if (!answer.ok) return unanswered(answer);
  const { code } = answer;
  const response = null;
  if (code === 'published') return { state: 'delivered', response, unreachable: false };
  const said = typeof code === 'number' ? `0x${code.toString(16).padStart(2, '0')}` : code;
  if (passing.has(code)) {
    const message = `The broker answered ${said}: it cannot take the message now.`;
    return { state: 'retry', reason: 'receiver_deferred', message, retryAfterMs: waitMs, response, unreachable: false };
  }
  if (ofTheMessage.has(code)) {
    const message = `The broker answered ${said}: it does not take this message.`;
    return { state: 'refused', reason: 'refused_by_receiver', message, response, unreachable: false };
  }
  const why = versions.has(code)
    ? 'set `version` to one that it speaks'
    : 'check username, password and what they may do';
  const message = `The broker answered ${said}: ${why}. The action was disabled.`;
  return { state: 'refused', reason: goneReason, message, response, unreachable: false };
}
