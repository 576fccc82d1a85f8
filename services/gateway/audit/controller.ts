/** HTTP for the audit. */
import { Readable } from 'node:stream';
import { Controller, Inject } from '@nestjs/common';
import { auditView, type AuditDocument } from '#contracts/audit';
import { headsOf, AUDIT_SIGNER, LOG_DOUBTS, type AuditSigner } from '#eventing/audit-heads';
import { acceptedHeads } from '#eventing/integrity';
import { verifyAudit } from '#eventing/verify-audit';
import { STORED_EVENTS, type EventArchive } from '#event-store/event-store';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { READ_STORE, type FieldFilter, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';
import { without } from '../json-casts.js';
import { everyDocument, listOfViews, withinBounds } from '../paging.js';
import * as routes from './routes.js';

const ndjson = 'application/x-ndjson';

const toEntry = (document: AuditDocument): object =>
  without(document, 'organizationId', 'stream', 'streamRevision', 'position', 'mac');

function filtersOf(organizationId: string, { actor, type, resource, ...bounds }: routes.AuditFilters): FieldFilter[] {
  const where: FieldFilter[] = [{ field: 'organizationId', equals: organizationId }];
  for (const [field, equals] of Object.entries({ actor, type, resource })) {
    if (equals !== undefined) where.push({ field, equals });
  }
  return [...where, ...withinBounds('at', bounds)];
}

/** A page at a time, as fast as the reader takes them. */
async function* linesOf(documents: AsyncIterable<AuditDocument>): AsyncGenerator<string> {
  for await (const document of documents) yield `${JSON.stringify(toEntry(document))}\n`;
}

@Controller()
export class AuditController {
  readonly #readStore: ReadStore;
  readonly #sharedState: SharedState;
  readonly #storedEvents: EventArchive;
  readonly #signer: AuditSigner;
  #isVerifying = false;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(SHARED_STATE) sharedState: SharedState,
    @Inject(STORED_EVENTS) storedEvents: EventArchive,
    @Inject(AUDIT_SIGNER) signer: AuditSigner,
    @Inject(LOG_DOUBTS) private readonly warnings: readonly string[],
  ) {
    this.#readStore = readStore;
    this.#sharedState = sharedState;
    this.#storedEvents = storedEvents;
    this.#signer = signer;
  }

  @Handles(routes.listAudit)
  async list(@Call() { query, context, accept }: RouteCall<typeof routes.listAudit>): Promise<Answer> {
    const where = filtersOf(context.organizationId, query);
    if (!accept.includes(ndjson)) return listOfViews(this.#readStore, [auditView], 'at', where, query, toEntry);
    const body = Readable.from(linesOf(everyDocument(this.#readStore, auditView, 'at', where)));
    return { status: 200, headers: { 'content-type': `${ndjson}; charset=utf-8`, 'cache-control': 'no-store' }, body };
  }

  @Handles(routes.verifyAudit)
  async verify(@Call() { context }: RouteCall<typeof routes.verifyAudit>): Promise<Answer> {
    if (this.#isVerifying) {
      const message = 'Another verification is running; ask again when it is done.';
      throw new AppError('RATE_LIMITED', 'verification_running', message, { retryAfterSeconds: 5 });
    }
    this.#isVerifying = true;
    try {
      const { organizationId } = context;
      const [readStore, storedEvents, signer] = [this.#readStore, this.#storedEvents, this.#signer];
      const signed = await headsOf(this.#sharedState, signer, organizationId);
      const accepted = await acceptedHeads(storedEvents);
      const heads = signed.filter(({ mac }) => !accepted.has(mac));
      const verdict = await verifyAudit({ storedEvents, readStore, organizationId, heads, signer });
      return data({ ...verdict, warnings: this.warnings });
    } finally {
      this.#isVerifying = false;
    }
  }
}
