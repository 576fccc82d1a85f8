/** One message to what speaks neither HTTP nor mail. */
import type { PeerChannel } from '#channels/channel';
import type { PeerMessage } from '#channels/peer';
import { peerSummary } from '#channels/summary';
import { isOpen, type Transmission } from '../transmission.js';
import type { Peers } from './peers.js';

/** Beyond what the message itself may take: a program is asked to end before it is ended. */
const graceMs = 10_000;

export function peerTransmission({ classify, method }: PeerChannel, peers: Peers, message: PeerMessage): Transmission {
  const summary = peerSummary(message);
  return {
    receiver: `${method} ${summary.url}`,
    summary,
    timeoutMs: message.timeoutMs + graceMs,
    parts: () => 1,
    partName: 'message',
    summaryOf: () => summary,
    async transmit(settled, signal) {
      return isOpen(0, settled) ? [{ part: 0, verdict: classify(await peers.send(message, signal)) }] : [];
    },
  };
}
