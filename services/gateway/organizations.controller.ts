/** HTTP for the organisation, its budget, and for operators all organisations. */
import { Controller, Inject } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { organizationDocument, organizationsView, type OrganizationDocument } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import { foundedOrganization } from '#contracts/member';
import { deliveriesView } from '#contracts/delivery';
import { executionsView } from '#contracts/run';
import { tasksView } from '#contracts/task';
import { data, list, type Answer } from '#http/envelope';
import { budgetOfPlan, Budgets } from '#http/budgets';
import { offsetOf } from '#http/parameters';
import { Call, Handles, type RouteCall } from '#http/route';
import { checkScope } from '#http/route-guard';
import { READ_STORE, type FieldFilter, type ReadStore, type ViewDefinition } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import type { Json } from '#runtime/json';
import { toJsonObject } from './json-casts.js';
import * as routes from './organizations.routes.js';

const dayMs = 86_400_000;

function shown(document: OrganizationDocument): object {
  return { ...document, defaults: { rateLimit: budgetOfPlan[document.plan] } };
}

const answered = (answer: Json): object => shown(organizationDocument.parse(answer));

@Controller()
export class OrganizationsController {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(Budgets) private readonly budgets: Budgets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Handles(routes.getOrganization)
  async get(@Call() { context }: RouteCall<typeof routes.getOrganization>): Promise<Answer> {
    const found = organizationDocument.safeParse(await this.readStore.get(organizationsView, context.organizationId));
    if (!found.success) throw notFound('organisation');
    return data(shown(found.data));
  }

  @Handles(routes.changeOrganization)
  async change(@Call() { body, context, scopes }: RouteCall<typeof routes.changeOrganization>): Promise<Answer> {
    if (body.plan !== undefined || body.rateLimit !== undefined) checkScope(scopes, 'operator');
    const payload = toJsonObject({ organizationId: context.organizationId, change: body });
    return data(answered(await this.bus.request(requests.organizationChange, payload, context)));
  }

  @Handles(routes.listOrganizations)
  async list(@Call() { query }: RouteCall<typeof routes.listOrganizations>): Promise<Answer> {
    const { documents, total } = await this.readStore.page(organizationsView, {
      where: [],
      sort: [{ field: 'createdAt', descending: true }],
      limit: query.limit,
      offset: offsetOf(query),
      count: true,
    });
    return list(
      documents.map((document) => shown(organizationDocument.parse(document))),
      query,
      total ?? 0,
    );
  }

  @Handles(routes.foundOrganization)
  async found(@Call() { body, context }: RouteCall<typeof routes.foundOrganization>): Promise<Answer> {
    const payload = toJsonObject(body);
    const { organization, ...rest } = foundedOrganization.parse(
      await this.bus.request(requests.organizationFound, payload, context),
    );
    return data({ organization: shown(organization), ...rest }, { status: 201 });
  }

  @Handles(routes.changeAnyOrganization)
  async changeAny(@Call() { ids, body, context }: RouteCall<typeof routes.changeAnyOrganization>): Promise<Answer> {
    const payload = toJsonObject({ organizationId: ids.id, change: body });
    return data(answered(await this.bus.request(requests.organizationChange, payload, context)));
  }

  @Handles(routes.getUsage)
  async usage(@Call() { context }: RouteCall<typeof routes.getUsage>): Promise<Answer> {
    const { organizationId } = context;
    const since = toTimestamp(this.clock.now() - dayMs);
    const own: FieldFilter = { field: 'organizationId', equals: organizationId };
    const [{ limit, state }, tasks, executions, deliveries] = await Promise.all([
      this.budgets.standing({ organizationId, actor: 'key:' }),
      this.#count(tasksView, [own]),
      this.#count(executionsView, [own, { field: 'queuedAt', from: since }]),
      this.#count(deliveriesView, [own, { field: 'createdAt', from: since }]),
    ]);
    const used = state === null ? 0 : limit - state.remaining;
    const resetsAt = state === null ? null : toTimestamp(state.resetAtMs);
    return data({ budget: limit, used, resetsAt, tasks, executions, deliveries });
  }

  async #count<Document extends object>(
    view: ViewDefinition<Document>,
    where: readonly FieldFilter[],
  ): Promise<number> {
    const { total } = await this.readStore.page(view, { where, sort: [], limit: 1, offset: 0, count: true });
    return total ?? 0;
  }
}
