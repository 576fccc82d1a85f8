/** Signed heads of the audit as files hold them, and the chain of each organisation's changes held against them. */
import { readFile } from 'node:fs/promises';
import { auditedPrefixes, type ChainVerdict } from '#contracts/audit';
import { auditHead, type AuditSigner, type SignedHead } from '#eventing/audit-heads';
import { createChainCheck, isAudited } from '#eventing/verify-audit';
import type { StoredEvent, StoredHistory } from '#event-store/event-chain';
import { Refused } from './cli/terminal.js';
import { toRecorded } from './folded-history.js';

/** As the data folder keeps them, or as they came by the log: lines with a head in it. */
export async function headsIn(file: string, signer: AuditSigner, isRequired: boolean): Promise<readonly SignedHead[]> {
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
export function createChains(heads: readonly SignedHead[]) {
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
    ended: (): readonly (ChainVerdict & { readonly organizationId: string })[] =>
      [...checks].map(([organizationId, check]) => ({ organizationId, ...check.ended(null) })),
    unmet: (): readonly SignedHead[] => [...checks.values()].flatMap((check) => check.unmet()),
  };
}

/** The history, each of whose events is looked at as it is read. */
export const watched = (history: StoredHistory, look: (rows: readonly StoredEvent[]) => void): StoredHistory => ({
  ...history,
  async *read(after, end) {
    for await (const rows of history.read(after, end)) {
      look(rows);
      yield rows;
    }
  },
});
