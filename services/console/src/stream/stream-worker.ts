/** Holds the only stream of this browser for all its tabs: over HTTP/1.1 the seventh stream would hang. */
import { openStream, type StreamMessage } from './open-stream.js';

interface PortEvent {
  readonly ports: readonly MessagePort[];
}

const ports = new Set<MessagePort>();
let last: StreamMessage | null = null;
let close: (() => void) | null = null;

function send(message: StreamMessage): void {
  if (message.kind === 'state') last = message;
  for (const port of ports) port.postMessage(message);
}

(globalThis as unknown as { onconnect: (event: PortEvent) => void }).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  ports.add(port);
  if (last !== null) port.postMessage(last);
  port.onmessage = ({ data }: MessageEvent<'bye' | 'again'>) => {
    if (data === 'bye') ports.delete(port);
    else {
      close?.();
      close = openStream(send);
    }
    if (ports.size > 0) return;
    close?.();
    close = null;
  };
  close ??= openStream(send);
};
