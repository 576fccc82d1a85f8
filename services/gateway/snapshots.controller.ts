/** HTTP for the pages that executions were made on. */
import { Readable } from 'node:stream';
import { Controller, Inject } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { replay } from '#contracts/run';
import { data, text, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { SNAPSHOTS, type KeptPage, type Snapshots } from '#snapshots/snapshots';
import { findExecution, readPageOfExecution, readScreenshotOfExecution } from './find-owned.js';
import * as routes from './snapshots.routes.js';

/**
 * A foreign page under our own origin: in a sandbox it has an origin of its own, runs no script, submits no form and opens
 * no window; and it loads nothing, so that looking at it tells its site nothing. The console alone may frame it.
 */
const contentSecurityPolicy =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

const replayDeadlineMs = 40_000;

function escaped(content: string): string {
  return content.replace(/[&<>]/g, (character) => `&#${character.codePointAt(0)};`);
}

/** What is no HTML must not be read as if it were. */
function shown({ snapshot, body }: KeptPage): string {
  const content = new TextDecoder('utf-8').decode(body);
  return snapshot.contentKind === 'html'
    ? content
    : `<!doctype html><meta charset="utf-8"><title>${snapshot.id}</title><pre>${escaped(content)}</pre>`;
}

@Controller()
export class SnapshotsController {
  constructor(
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(SNAPSHOTS) private readonly snapshots: Snapshots,
    @Inject(BUS) private readonly bus: Bus,
  ) {}

  @Handles(routes.getExecutionSnapshot)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getExecutionSnapshot>): Promise<Answer> {
    const execution = await findExecution(this.readStore, context.organizationId, ids.id);
    const page = await readPageOfExecution(this.snapshots, execution);
    if (page === null) {
      const message = 'The page of this execution is not kept any more, or there never was one.';
      throw new AppError('NOT_FOUND', 'snapshot_gone', message);
    }
    return text(shown(page), 'text/html; charset=utf-8', {
      'content-security-policy': contentSecurityPolicy,
      'x-frame-options': 'SAMEORIGIN',
      'content-disposition': `inline; filename="${page.snapshot.id}.html"`,
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, no-store',
      'x-snapshot-id': page.snapshot.id,
      'x-final-url': new URL(page.snapshot.finalUrl).href,
    });
  }

  @Handles(routes.getExecutionScreenshot)
  async screenshot(@Call() { ids, context }: RouteCall<typeof routes.getExecutionScreenshot>): Promise<Answer> {
    const execution = await findExecution(this.readStore, context.organizationId, ids.id);
    const found = await readScreenshotOfExecution(this.snapshots, execution);
    if (found === null) {
      const message =
        'There is no screenshot of this execution: no browser rendered its page, fetch.browser.screenshot left it out, or it is not kept any more.';
      throw new AppError('NOT_FOUND', 'no_screenshot', message);
    }
    const { snapshot, body } = found;
    return {
      status: 200,
      headers: {
        'content-type': 'image/png',
        'content-length': String(body.byteLength),
        'content-disposition': `inline; filename="${snapshot.id}.png"`,
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'private, no-store',
        'x-snapshot-id': snapshot.id,
      },
      body: Readable.from([body]),
    };
  }

  @Handles(routes.replayExecution)
  async replay(@Call() { ids, context }: RouteCall<typeof routes.replayExecution>): Promise<Answer> {
    const { id, notificationId } = await findExecution(this.readStore, context.organizationId, ids.id);
    const answer = await this.bus.request(requests.runReplay, { executionId: id }, context, replayDeadlineMs);
    return data(replay.parse(answer), { taskId: notificationId });
  }
}
