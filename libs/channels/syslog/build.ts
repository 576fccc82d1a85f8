/** Syslog: a notification as one line by RFC 5424, its episode and links as structured data. */
import type { z } from 'zod';
import { peerChannel, type BuildContext, type Notification } from '../channel.js';
import { episodeKey } from '../episode.js';
import { bytes, messageText, shortened } from '../text-limits.js';
import { peerAt, peerOutgoing, trustOf, type PeerOutgoing } from '../peer.js';
import { chosenFor, detailsOf, levelOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifySyslog } from './classify.js';
import { severityNames, syslogDeclaration } from './declaration.js';

type SyslogConfig = z.output<typeof syslogDeclaration.config>;

const ports = { 'udp:': 514, 'tcp:': 601, 'tls:': 6_514 } as const;
const timeoutMs = 10_000;
const local0 = 16;
const usualSeverities = { bad: 'warning', good: 'notice', broken: 'error', none: 'informational' } as const;
/** A private name needs a number of an enterprise; this one is kept for examples (RFC 5612). */
const structureId = 'meerkat@32473';
const longestParameter = 300;

/** A value between quotes. */
function parameter(name: string, value: string): string {
  const text = shortened(messageText(value).replace(/\s+/g, ' '), longestParameter, bytes);
  return `${name}="${text.replace(/["\\\]]/g, '\\$&')}"`;
}

function priorityOf({ facility = local0, severity }: SyslogConfig, request: Notification): number {
  const name = chosenFor(request, severity) ?? usualSeverities[levelOf(request)];
  return facility * 8 + severityNames.indexOf(name);
}

function buildSyslog(config: SyslogConfig, request: Notification, { linkBase }: BuildContext): PeerOutgoing {
  const { serverUrl, hostname = 'meerkat', appName = 'meerkat' } = config;
  const { protocol, host, port } = peerAt(serverUrl, ports);
  const transport = protocol === 'udp:' ? 'udp' : protocol === 'tcp:' ? 'tcp' : 'tls';
  const { maxBytes = transport === 'udp' ? 1_180 : 2_048 } = config;
  const structure = [
    structureId,
    parameter('kind', request.kind),
    parameter('task', request.taskId),
    parameter('episode', episodeKey(request)),
    parameter('delivery', request.deliveryId),
    parameter('page', pageOf(request)),
    parameter('details', detailsOf(request, linkBase)),
  ].join(' ');
  // The fields of the head are ASCII without spaces.
  const head = `<${priorityOf(config, request)}>1 ${request.createdAt} ${hostname} ${appName} - ${request.kind} [${structure}] \ufeff`;
  // A line feed would end the message where frames are not counted.
  const text = `${titleOf(request, linkBase, config)}: ${textOf(request, linkBase, config)}`.replace(
    /\s*\n\s*/g,
    ' | ',
  );
  const line = `${head}${shortened(text, Math.max(3, maxBytes - bytes(head)), bytes)}`;
  return peerOutgoing({ protocol: 'syslog', transport, host, port, line, trust: trustOf(config), timeoutMs });
}

export const syslog = peerChannel(syslogDeclaration, 'syslog', buildSyslog, classifySyslog);
