/** Syslog: the settings of an action. */
import { z } from 'zod';
import {
  byKind,
  peerAddress,
  plainWord,
  tlsFaultOf,
  tlsFields,
  textTemplate,
  titleTemplate,
} from '../config-fields.js';
import { declareChannel } from '../declaration.js';

const severities = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'informational', 'debug'] as const;
export const severityNames: readonly string[] = severities;

export const syslogDeclaration = declareChannel({
  type: 'syslog',
  config: z
    .strictObject({
      serverUrl: peerAddress(
        ['udp', 'tcp', 'tls'],
        'The receiver: `tls://host:6514`, `tcp://host:601` or `udp://host:514`.',
        'tls://logs.example.com:6514',
      ),
      ...tlsFields,
      facility: z.int().min(0).max(23).optional().describe('Of the messages; 16 (local0).'),
      severity: byKind(
        z.enum(severities),
        'By the kind of message; `warning`, of errors `error`, of what is over `notice`.',
      ),
      hostname: plainWord('Who sends; `meerkat`.', /^[\u0021-\u007e]{1,255}$/, 'must be a word of ASCII').optional(),
      appName: plainWord(
        'The name of the program; `meerkat`.',
        /^[\u0021-\u007e]{1,48}$/,
        'must be a word of ASCII of up to 48',
      ).optional(),
      maxBytes: z.int().min(480).max(8_192).optional().describe('What a receiver takes; 2,048, by UDP 1,180.'),
      title: titleTemplate,
      text: textTemplate,
    })
    .superRefine((config, context) => {
      const fault = tlsFaultOf(config, 'tls');
      if (fault !== null) context.addIssue({ code: 'custom', path: ['clientCertificate'], message: fault });
    }),
  sealed: ['serverUrl', 'ca', 'clientCertificate', 'clientKey'],
  addresses: ['serverUrl'],
  templates: ['title', 'text'],
});
