/**
 * A backup held against what was signed, with no server and no installation: its files against its manifest, every event against
 * its MAC, and the chain of each organisation's changes against the heads that were signed day by day.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditVerification } from '#contracts/audit';
import { auditedPrefixes } from '#contracts/audit';
import { auditHead, createAuditSigner, type AuditSigner, type SignedHead } from '#eventing/audit-heads';
import { createChainCheck, isAudited } from '#eventing/verify-audit';
import type { StoredEvent, StoredHistory } from '#event-store/event-chain';
import { openStoredCopy } from '#event-store/sqlite-stored';
import type { Config } from '#runtime/config';
import { auditHeadsFile } from './data-folder.js';
import { toAuditFault } from './audit.js';
import { checkBackup, keyOfBackup } from './backup.js';
import type { AuditFault, VerifiedBackup } from './cli/product.js';
import { Refused } from './cli/terminal.js';
import { keyRingAt } from './composition.js';
import { toRecorded } from './folded-history.js';
import { auditEvents } from './integrity.js';

/** As the data folder keeps them, or as they came by the log: lines with a head in it. */
async function headsIn(file: string, signer: AuditSigner, isRequired: boolean): Promise<readonly SignedHead[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (!isRequired) return '';
    throw new Refused('no_heads', `${file} cannot be read (${String(error)}).`);
  });
  return text.split('\n').flatMap((line) => {
    if (!line.includes('"mac"')) return [];
    const head = auditHead.safeParse(parsedLine(line));
    return head.success ? [signer.check(head.data)] : [];
  });
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** One head for an entry: the same stands twice where a process was killed in between. */
function createChains(heads: readonly SignedHead[]) {
  const checks = new Map<string, ReturnType<typeof createChainCheck>>();
  const checkOf = (organizationId: string): ReturnType<typeof createChainCheck> => {
    const known = checks.get(organizationId);
    if (known !== undefined) return known;
    const check = createChainCheck(heads.filter((head) => head.organizationId === organizationId));
    checks.set(organizationId, check);
    return check;
  };
  for (const { organizationId } of heads) checkOf(organizationId);
  return {
    add(rows: readonly StoredEvent[]): void {
      for (const row of rows) {
        if (!auditedPrefixes.some((prefix) => row.stream.startsWith(prefix))) continue;
        const event = toRecorded(row);
        if (isAudited(event)) checkOf(event.metadata.organizationId).add(event, null);
      }
    },
    ended: (): readonly (AuditVerification & { readonly organizationId: string })[] =>
      [...checks].map(([organizationId, check]) => ({ organizationId, ...check.ended(null) })),
  };
}

const watched = (history: StoredHistory, look: (rows: readonly StoredEvent[]) => void): StoredHistory => ({
  ...history,
  async *read(after, end) {
    for await (const rows of history.read(after, end)) {
      look(rows);
      yield rows;
    }
  },
});

/** `headsFile`: heads that were kept elsewhere; null: those in the backup alone. Rejects with `Refused` or `ConfigError`. */
export async function verifyBackup(
  config: Config,
  folder: string,
  headsFile: string | null,
  found: (fault: AuditFault) => void,
): Promise<VerifiedBackup> {
  const { createdAt } = await checkBackup(config, folder);
  const secretKey = keyOfBackup(config, folder);
  const { stored, lastPosition, close } = openStoredCopy(join(folder, 'events.db'));
  try {
    const { current, former } = await keyRingAt(stored, secretKey);
    const signer = createAuditSigner(current, ...former.map(({ key }) => key));
    const kept = await headsIn(auditHeadsFile({ dataDir: folder }), signer, false);
    const elsewhere = headsFile === null ? [] : await headsIn(headsFile, signer, true);
    const chains = createChains([...kept, ...elsewhere]);
    const history = watched(stored, (rows) => chains.add(rows));
    const counts = await auditEvents({ history, lastPosition, secretKey }, (fault) => found(toAuditFault(fault)));
    return { createdAt, ...counts, audit: chains.ended() };
  } finally {
    close();
  }
}
