/** `meerkat audit export` and `audit replay`: the audit for a SIEM, and what something was at a time. */
import { hostname } from 'node:os';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { AuditEntry } from '#contracts/audit';
import { readConfig } from '#runtime/config';
import { refuseEmptyFolder } from './data-folder.js';
import type { Product } from './product.js';
import { printJson, printResult, Refused } from './terminal.js';

/** Facility 13 (log audit), severity 6 (informational). */
const priority = 13 * 8 + 6;
/** The number of enterprises in examples (RFC 5612): there is none of Meerkat. */
const structuredId = 'meerkat@32473';

const escaped = (text: string): string => text.replace(/["\\\]]/g, '\\$&');

/** RFC 5424: what to filter by as structured data, the whole entry as JSON behind it. */
export function toSyslog(entry: AuditEntry & { readonly organizationId: string }, host: string): string {
  const { at, type, actor, resource, requestId, sequence, organizationId, hash } = entry;
  const fields = { organization: organizationId, sequence, actor, resource, request: requestId, hash };
  const data = Object.entries(fields).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return `<${priority}>1 ${at} ${host} meerkat - ${type} [${structuredId} ${data.join(' ')}] ${JSON.stringify(entry)}`;
}

function parseTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('It must be a time such as 2026-11-01T08:00:00Z.');
  return time.toISOString();
}

interface ExportOptions {
  readonly format: 'jsonl' | 'syslog';
  readonly since?: string;
}

export function addAuditExport(audit: Command, product: Product): void {
  audit
    .command('export')
    .description('every change of the installation, oldest first, one a line; a running server goes on')
    .addOption(new Option('--format <format>', 'of a line').choices(['jsonl', 'syslog']).default('jsonl'))
    .option('--since <time>', 'changes from then on', parseTime)
    .action(async ({ format, since }: ExportOptions) => {
      const config = readConfig();
      refuseEmptyFolder(config);
      const host = hostname() === '' ? '-' : hostname();
      for await (const entry of product.auditEntries(config)) {
        if (since !== undefined && entry.at < since) continue;
        if (format === 'syslog') printResult(toSyslog(entry, host));
        else printJson(entry);
      }
    });
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
