/** Hands the audit to a receiver, from where the last time ended, and goes on as changes come. */
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sleep } from '#concurrency/sleep';
import { z } from 'zod';
import type { Config } from '#runtime/config';
import type { AuditExport, ExportedEntry } from './cli/product.js';
import { Refused, exitCodes } from './cli/terminal.js';
import { openOutbound } from './page-parts.js';
import { auditEntriesOf } from './audit-log.js';
import { createFileReceiver, createSyslogReceiver, NotTaken, syslogAddressOf, type AuditReceiver } from './siem.js';

const cursorSchema = z.object({ id: z.string() });
const linesAtOnce = 100;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** A folder that is missing is a slip: to wait for it, as for a receiver that is away, would hide it. */
async function refuseWithoutFolder(file: string): Promise<void> {
  const folder = dirname(file);
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) throw new Refused('no_such_folder', `The folder ${folder} does not exist.`);
}

/** The entry that was handed over last; null: none. */
async function readCursor(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return cursorSchema.parse(JSON.parse(text)).id;
  } catch {
    throw new Refused('cursor_unreadable', `${file} is not what this command wrote; remove it to send all again.`);
  }
}

async function writeCursor(file: string, id: string): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify({ id })}\n`, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

interface Handing extends Pick<AuditExport, 'follow' | 'note' | 'signal'> {
  readonly receiver: AuditReceiver;
}

/** Whether they were taken; with `follow` a receiver that is away is waited for. */
async function handOver(lines: readonly string[], { receiver, follow, note, signal }: Handing): Promise<boolean> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    try {
      await receiver.hand(lines);
      return true;
    } catch (error) {
      if (!(error instanceof NotTaken)) throw error;
      if (!follow)
        throw new Refused(
          'receiver_unreachable',
          `The receiver takes nothing: ${error.message}`,
          exitCodes.unreachableServer,
        );
      if (pauseMs === firstPauseMs) note(`The receiver takes nothing (${error.message}); it is tried again.`);
    }
    await sleep(pauseMs, signal);
    if (signal.aborted) return false;
  }
}

async function openReceiver(config: Config, target: string): Promise<AuditReceiver> {
  const address = syslogAddressOf(target);
  if (address === null) {
    await refuseWithoutFolder(target);
    return createFileReceiver(target);
  }
  const outbound = await openOutbound(config);
  const refusal = outbound.refusalOf(`http://${address.host.includes(':') ? `[${address.host}]` : address.host}/`);
  if (refusal !== null) {
    await outbound.close();
    throw new Refused('address_denied', refusal);
  }
  return { ...createSyslogReceiver(outbound, address), close: () => outbound.close() };
}

const isAfter = (since: string | undefined, { at }: ExportedEntry): boolean => since === undefined || at >= since;

/** Resolves with how many were handed over. Rejects with `Refused` or `ConfigError`. */
export async function exportAudit(config: Config, request: AuditExport): Promise<number> {
  const { target, cursorFile, since, follow, signal, lineOf, print } = request;
  if (cursorFile !== null) await refuseWithoutFolder(cursorFile);
  const last = cursorFile === null ? null : await readCursor(cursorFile);
  const receiver = target === null ? { hand: print, close: async () => undefined } : await openReceiver(config, target);
  let isBehind = last === null;
  let count = 0;
  try {
    for await (const { entries, isEnd } of auditEntriesOf(config, { follow, signal })) {
      const place = isBehind ? -1 : entries.findIndex(({ id }) => id === last);
      const unsent = isBehind || place >= 0 ? entries.slice(place + 1) : [];
      isBehind ||= place >= 0;
      if (isEnd && !isBehind) {
        throw new Refused(
          'cursor_unknown',
          `The entry that was handed over last (${last}) is not there, as after a restore. Remove ${cursorFile} to send all again.`,
        );
      }
      const wanted = unsent.filter((entry) => isAfter(since, entry));
      for (let first = 0; first < wanted.length; first += linesAtOnce) {
        const some = wanted.slice(first, first + linesAtOnce);
        if (!(await handOver(some.map(lineOf), { receiver, follow, note: request.note, signal }))) return count;
        count += some.length;
        const newest = some.at(-1);
        if (cursorFile !== null && newest !== undefined) await writeCursor(cursorFile, newest.id);
      }
    }
    return count;
  } finally {
    await receiver.close();
  }
}
