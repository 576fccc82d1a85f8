/** HTTP for what is done to many tasks at once. */
import { Controller, Inject } from '@nestjs/common';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { checkScope } from '#http/route-guard';
import { refuse } from '#http/validation';
import * as routes from './bulk.routes.js';
import { BulkWork } from './bulk.work.js';

const tasksPerRequest = 20;

/** What the schema cannot say: which members go together. */
function checkTogether({ ids, filter, tags, do: work }: routes.BulkBody): void {
  if (ids === undefined && filter === undefined) {
    throw refuse(['ids'], 'required', 'is required, or filter in its place');
  }
  if (ids !== undefined && filter !== undefined) {
    throw refuse(['filter'], 'invalid', 'cannot be given beside ids', 'ids_and_filter');
  }
  const needsTags = work === 'tag' || work === 'untag';
  if (needsTags && tags === undefined) throw refuse(['tags'], 'required', `is required to ${work}`);
  if (!needsTags && tags !== undefined) throw refuse(['tags'], 'invalid', 'are for tag and untag alone');
}

@Controller()
export class BulkController {
  readonly #work: BulkWork;

  constructor(@Inject(BulkWork) work: BulkWork) {
    this.#work = work;
  }

  @Handles(routes.bulkNotifications)
  async run(@Call() call: RouteCall<typeof routes.bulkNotifications>): Promise<Answer> {
    const { body, context, scopes, attempt, ending, takeMore } = call;
    checkScope(scopes, body.do === 'execute' ? 'execute' : 'write');
    checkTogether(body);
    const { organizationId } = context;
    const named = body.ids ?? (await this.#work.matching(organizationId, body.filter ?? {}));
    const ids = [...new Set(named)];
    await takeMore(Math.ceil(ids.length / tasksPerRequest) - 1);
    return data(await this.#work.run(ids, { body, context, attempt, signal: ending() }));
  }
}
