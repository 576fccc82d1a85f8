/** `meerkat audit export` and `audit replay`: the audit for a SIEM, and what something was at a time. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { timestamp } from '#contracts/common';
import { readConfig } from '#runtime/config';
import { refuseEmptyFolder } from './data-folder.js';
import type { ExportedEntry, Product } from './product.js';
import { plain, printJson, printNote, printResult, Refused } from './terminal.js';

/** Facility 13 (log audit), severity 6 (informational). */
const priority = 13 * 8 + 6;
/** The number of enterprises in examples (RFC 5612): there is none of Meerkat. */
const structuredId = 'meerkat@32473';

const escaped = (text: string): string => text.replace(/["\\\]]/g, '\\$&');

/** RFC 5424: what to filter by as structured data, the whole entry as JSON behind it. */
export function toSyslog(entry: ExportedEntry, host: string): string {
  const { at, type, actor, resource, requestId, sequence, organizationId, hash } = entry;
  const fields = { organization: organizationId, sequence, actor, resource, request: requestId, hash };
  const data = Object.entries(fields).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return `<${priority}>1 ${at} ${host} meerkat - ${type} [${structuredId} ${data.join(' ')}] ${JSON.stringify(entry)}`;
}

/** What the API takes as a time: one without a zone would be another moment on another machine. */
function parseTime(text: string): string {
  const time = timestamp.safeParse(text);
  if (time.success) return new Date(time.data).toISOString();
  throw new InvalidArgumentError(
    'It must be a time with its zone, such as 2026-11-01T08:00:00Z or 2026-11-01T08:00:00+01:00.',
  );
}

interface ExportOptions {
  readonly format?: 'jsonl' | 'syslog';
  readonly since?: string;
  readonly to?: string;
  readonly cursor?: string;
  readonly follow?: true;
}

/** So much of a datagram every receiver should take (RFC 5424, section 6.1). */
const datagramBytes = 2_048;

/** An entry that is too long for a datagram goes without its contents; its hash tells which they are. */
function lineFor(format: ExportOptions['format'], to: string | undefined): (entry: ExportedEntry) => string {
  const isSyslog = (format ?? (to !== undefined && /^(tcp|tls|udp):\/\//i.test(to) ? 'syslog' : 'jsonl')) === 'syslog';
  if (!isSyslog) return (entry) => JSON.stringify(entry);
  const host = hostname() === '' ? '-' : hostname();
  if (to?.toLowerCase().startsWith('udp:') !== true) return (entry) => toSyslog(entry, host);
  return (entry) => {
    const line = toSyslog(entry, host);
    if (Buffer.byteLength(line) <= datagramBytes) return line;
    const { changes: _changes, ...rest } = entry;
    return toSyslog({ ...rest, data: {} }, host);
  };
}

async function exported(product: Product, { format, since, to, cursor, follow }: ExportOptions): Promise<void> {
  const config = readConfig();
  refuseEmptyFolder(config);
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  process.stdout.once('error', () => ending.abort());
  const isFile = to !== undefined && !/^[a-z][a-z0-9+.-]*:\/\//i.test(to);
  const target = isFile ? resolve(to) : (to ?? null);
  const cursorFile = cursor !== undefined ? resolve(cursor) : isFile ? `${target}.cursor` : null;
  const count = await product.exportAudit(config, {
    target,
    cursorFile,
    follow: follow === true,
    signal: ending.signal,
    ...(since === undefined ? {} : { since }),
    lineOf: lineFor(format, to),
    print: async (lines) => lines.forEach(printResult),
    note: (text) => printNote(plain(text)),
  });
  if (target !== null) printNote(`${count} entries handed over.`);
}

export function addAuditExport(audit: Command, product: Product): void {
  audit
    .command('export')
    .description('every change of the installation, oldest first, one a line; a running server goes on')
    .addOption(new Option('--format <format>', 'of a line (an address: syslog)').choices(['jsonl', 'syslog']))
    .option('--since <time>', 'changes from then on', parseTime)
    .option('--to <target>', 'a file, or tls://host:port, tcp://… or udp://… of a receiver of syslog')
    .option('--cursor <file>', 'keeps which entry was handed over last, and goes on behind it (a file: <file>.cursor)')
    .option('--follow', 'goes on as changes come, until Ctrl-C')
    .action((options: ExportOptions) => exported(product, options));
  audit
    .command('replay')
    .description('what a task, key or member was at a time, from the events alone, as JSON; a running server goes on')
    .argument('<id>', 'of the task, key or member')
    .requiredOption('--until <time>', 'the time', parseTime)
    .action(async (id: string, { until }: { readonly until: string }) => {
      const config = readConfig();
      refuseEmptyFolder(config);
      const state = await product.stateAt(config, id, until);
      if (state === null)
        throw new Refused('not_there_then', `There was no ${id} at ${until}, or its contents are purged.`);
      printJson(state);
    });
}
