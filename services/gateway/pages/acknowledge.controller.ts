/**
 * The page that the signed link in a message leads to. Opening it changes nothing, since programs open every link of a mail
 * before people do: only the button does.
 */
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { tasksView, type TaskDocument } from '#contracts/task';
import type { Answer } from '#http/envelope';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { LINK_SIGNER, type LinkSigner } from '#vault/link-signer';
import { Acknowledger } from '../acknowledger.js';
import { html } from './html.js';
import { page, timeOf } from './layout.js';
import { errorPage, publicPage, tokenOf } from './page-route.js';

const path = '/acknowledge/{token}';
const show = route({ ...publicPage(path), errorPage });
const take = route({ ...publicPage(path), method: 'POST', operationId: 'acknowledgeByLink', form: true, errorPage });

interface Linked {
  readonly task: TaskDocument;
  readonly actionId: string;
  readonly episode: string;
}

function isTaken({ task: { acknowledged }, episode }: Linked, nowMs: number): boolean {
  if (acknowledged === undefined || !acknowledged.episodes.includes(episode)) return false;
  return acknowledged.until === null || Date.parse(acknowledged.until) > nowMs;
}

function takenPage({ task: { name, acknowledged } }: Linked): Answer {
  return page({
    title: 'Acknowledged',
    body: html`<section>
      <h1>Acknowledged</h1>
      <p>
        Somebody has taken on “${name}”${acknowledged === undefined ? null : html` at ${timeOf(acknowledged.at)}`}.
        There are no reminders and no escalation of it until it ends.
      </p>
    </section>`,
  });
}

function overPage({ task: { name } }: Linked): Answer {
  return page({
    title: 'Over',
    body: html`<section>
      <h1>It is over</h1>
      <p>What the message about “${name}” said has ended meanwhile. There is nothing to acknowledge.</p>
    </section>`,
  });
}

/** Names no address of the page that is watched: who has the link need not be one who may see the task. */
function askPage({ task: { name } }: Linked, token: string): Answer {
  return page({
    title: 'Acknowledge',
    body: html`<section>
      <h1>Acknowledge “${name}”?</h1>
      <p>Who acknowledges takes it on: there are no reminders and no escalation until it ends.</p>
      <form method="post" action="/acknowledge/${token}"><button type="submit">Acknowledge</button></form>
    </section>`,
  });
}

@Controller()
export class AcknowledgePagesController {
  readonly #readStore: ReadStore;
  readonly #signer: LinkSigner;
  readonly #acknowledger: Acknowledger;
  readonly #clock: Clock;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(LINK_SIGNER) signer: LinkSigner,
    @Inject(Acknowledger) acknowledger: Acknowledger,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#readStore = readStore;
    this.#signer = signer;
    this.#acknowledger = acknowledger;
    this.#clock = clock;
  }

  @Handles(show)
  async show(@Req() request: FastifyRequest): Promise<Answer> {
    const token = tokenOf(request.url);
    const linked = await this.#linked(token);
    if (isTaken(linked, this.#clock.now())) return takenPage(linked);
    return this.#isOpen(linked) ? askPage(linked, token) : overPage(linked);
  }

  @Handles(take)
  async take(@Call() { context }: RouteCall<typeof take>, @Req() request: FastifyRequest): Promise<Answer> {
    const linked = await this.#linked(tokenOf(request.url));
    if (isTaken(linked, this.#clock.now())) return takenPage(linked);
    if (!this.#isOpen(linked)) return overPage(linked);
    const { task, actionId } = linked;
    const by = { ...context, organizationId: task.organizationId, actor: `link:${actionId}` };
    return takenPage({ ...linked, task: await this.#acknowledger.acknowledge(task, { until: null, note: null }, by) });
  }

  #isOpen({ task: { openEpisodes = [] }, episode }: Linked): boolean {
    return openEpisodes.includes(episode);
  }

  /** A link ends with the action whose message it came in. */
  async #linked(token: string): Promise<Linked> {
    const [taskId, actionId, episode] = this.#signer.read('acknowledge', token) ?? [];
    if (taskId === undefined || actionId === undefined || episode === undefined) throw notFound('link');
    const task = await this.#readStore.get(tasksView, taskId);
    if (task === null || !task.spec.actions.some(({ id }) => id === actionId)) throw notFound('link');
    return { task, actionId, episode };
  }
}
