/** Whatever takes messages and speaks no HTTP: each protocol sends one message, and says what came of it. Nothing here rejects. */
import type { PeerAnswer, PeerMessage } from '#channels/peer';
import type { Outbound } from '#outbound/outbound';
import { createCommands } from './command.js';
import { publish } from './mqtt.js';
import { sendSyslog } from './syslog.js';

export interface Peers {
  send(message: PeerMessage, signal: AbortSignal): Promise<PeerAnswer>;
}

export interface PeerOptions {
  readonly outbound: Pick<Outbound, 'connect' | 'datagram'>;
  /** Programs that the operator lets actions run; empty: none. */
  readonly commands: readonly string[];
}

export function createPeers({ outbound, commands }: PeerOptions): Peers {
  const run = createCommands(commands);
  return {
    async send(message, signal) {
      switch (message.protocol) {
        case 'syslog':
          return sendSyslog(outbound, message, signal);
        case 'mqtt':
          return publish(outbound, message, signal);
        case 'command':
          return run(message, signal);
        default:
          return message satisfies never;
      }
    },
  };
}
