/**
 * Keys with the scope operator end with the operator who stands behind them: nobody keeps by a key what was taken from them. The
 * gateways refuse such a key from the moment that its member is no operator; here it is put on record.
 */
import type { RequestContext } from '#bus/bus';
import { keysView } from '#contracts/account';
import { standsBehind } from './owner-rank.js';
import type { AccountPorts } from './ports.js';
import { revokeKey } from './revoke-key.js';

const pageSize = 100;

/** After the change itself. Returns once no request gets in with one of them. */
export async function endOperatorKeys(
  ports: AccountPorts,
  { organizationId, ...asking }: RequestContext,
  memberId: string,
): Promise<void> {
  const ending: string[] = [];
  for (let offset = 0, isMore = true; isMore; offset += pageSize) {
    const { documents } = await ports.readStore.page(keysView, {
      where: [
        { field: 'organizationId', equals: organizationId },
        { field: 'revokedAt', equals: null },
      ],
      sort: [{ field: 'createdAt', descending: false }],
      limit: pageSize,
      offset,
      count: false,
    });
    for (const { id, scopes } of documents) {
      if (!scopes.includes('operator')) continue;
      const who = await standsBehind(ports, `key:${id}`);
      // One that nobody known stands behind is nobody's to keep.
      if (who === null || (who !== 'system' && who.memberId === memberId)) ending.push(id);
    }
    isMore = documents.length === pageSize;
  }
  let position: number | null = null;
  for (const id of ending) position = await revokeKey(ports, organizationId, id, asking);
  await ports.views.reachKey(position, ...ending);
}
