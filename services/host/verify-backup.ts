/**
 * A backup held against what was signed, with no server and no installation: its files against its manifest, every event against
 * its MAC, and the chain of each organisation's changes against the heads that were signed day by day.
 */
import { join } from 'node:path';
import { createAuditSigner } from '#eventing/audit-heads';
import { isHeadAccepted, readIntegrityRecord } from '#eventing/integrity';
import { openStoredCopy } from '#event-store/sqlite-stored';
import type { Config } from '#runtime/config';
import { auditHeadsFile } from './data-folder.js';
import { toAuditFault } from './audit.js';
import { checkBackup, keyOfBackup } from './backup.js';
import type { AuditFault, VerifiedBackup } from './cli/product.js';
import { keyRingAt } from './composition.js';
import { auditEvents } from './integrity.js';
import { createChains, headsIn, watched } from './signed-heads.js';

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
    const record = await readIntegrityRecord(stored, secretKey);
    const chains = createChains([...kept, ...elsewhere].filter((head) => !isHeadAccepted(record, head)));
    const history = watched(stored, (rows) => chains.add(rows));
    const counts = await auditEvents({ history, lastPosition, secretKey }, (fault) => found(toAuditFault(fault)));
    return { createdAt, ...counts, audit: chains.ended() };
  } finally {
    close();
  }
}
