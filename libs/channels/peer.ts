/** Messages to what speaks no HTTP, as values: a channel makes them, and judges what came of them. */

interface At {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

/** What TLS trusts besides, or instead of, the usual authorities. */
export interface PeerTrust {
  readonly ca?: string;
  readonly fingerprint?: string;
  /** Shown to a receiver that asks who comes: PEM. */
  readonly identity?: { readonly certificate: string; readonly key: string };
}

interface TlsSettings {
  readonly ca?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly clientCertificate?: string | undefined;
  readonly clientKey?: string | undefined;
}

export function trustOf({ ca, fingerprint, clientCertificate: certificate, clientKey: key }: TlsSettings): PeerTrust {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(certificate === undefined || key === undefined ? {} : { identity: { certificate, key } }),
  };
}

export interface SyslogMessage extends At {
  readonly protocol: 'syslog';
  readonly transport: 'udp' | 'tcp' | 'tls';
  /** One message by RFC 5424, without a frame. */
  readonly line: string;
  readonly trust: PeerTrust;
}

export interface MqttMessage extends At {
  readonly protocol: 'mqtt';
  /** null: without TLS. */
  readonly trust: PeerTrust | null;
  readonly version: '3.1.1' | '5';
  readonly clientId: string;
  readonly username: string | null;
  readonly password: string | null;
  readonly topic: string;
  readonly payload: string;
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
}

export interface CommandMessage {
  readonly protocol: 'command';
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** On its standard input. */
  readonly input: string;
  readonly timeoutMs: number;
}

export type PeerMessage = SyslogMessage | MqttMessage | CommandMessage;

/** `code`: how it ended, in the other side's own terms. `sent`: it may have arrived. */
export type PeerAnswer =
  | { readonly ok: true; readonly code: string | number; readonly text: string }
  | { readonly ok: false; readonly reason: string; readonly message: string; readonly sent: boolean };

export interface PeerOutgoing {
  readonly kind: 'peer';
  readonly message: PeerMessage;
}

export function peerOutgoing(message: PeerMessage): PeerOutgoing {
  return { kind: 'peer', message };
}

/** What an address such as `mqtts://broker.example.com` leads to; the port is the usual one where it names none. */
export function peerAt<Protocol extends string>(
  address: string,
  ports: Readonly<Record<Protocol, number>>,
): { readonly protocol: Protocol; readonly host: string; readonly port: number } {
  const url = new URL(address);
  const known = Object.entries<number>(ports).find(([name]) => name === url.protocol);
  if (known === undefined) throw new Error(`no protocol ${url.protocol}`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { protocol: url.protocol as Protocol, host, port: url.port === '' ? known[1] : Number(url.port) };
}
