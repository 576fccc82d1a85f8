/**
 * The page where a recipient stops the mails of an action, by the signed link in their header (RFC 8058). Opening it changes
 * nothing; a POST does, of the button or of a mail program, with whatever body and without signing in.
 */
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { RequestContext } from '#bus/bus';
import { isSameRecipient, tasksView, type LeftRecipient, type TaskDocument } from '#contracts/task';
import type { Answer } from '#http/envelope';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { notFound } from '#runtime/errors';
import { LINK_SIGNER, type LinkSigner } from '#vault/link-signer';
import { TaskSaver } from '../save-task.js';
import { html } from './html.js';
import { page } from './layout.js';
import { errorPage, publicPage, tokenOf } from './page-route.js';

const path = '/unsubscribe/{token}';
const show = route({ ...publicPage(path), errorPage });
const leave = route({
  ...publicPage(path),
  method: 'POST',
  operationId: 'unsubscribeByLink',
  form: true,
  body: z.object({ again: z.string().optional() }),
  emptyBody: {},
  errorPage,
});

interface Subscribed {
  readonly task: TaskDocument;
  readonly recipient: LeftRecipient;
}

function hasLeft({ task: { left = [] }, recipient }: Subscribed): boolean {
  return left.some((one) => isSameRecipient(one, recipient));
}

function pageOf(subscribed: Subscribed, token: string): Answer {
  const { name } = subscribed.task;
  const { shown } = subscribed.recipient;
  return hasLeft(subscribed)
    ? page({
        title: 'Unsubscribed',
        body: html`<section>
          <h1>Unsubscribed</h1>
          <p><b>${shown}</b> gets no more mails about “${name}”.</p>
          <form method="post" action="/unsubscribe/${token}">
            <input type="hidden" name="again" value="yes" />
            <button type="submit" class="quiet">Subscribe again</button>
          </form>
        </section>`,
      })
    : page({
        title: 'Unsubscribe',
        body: html`<section>
          <h1>Stop these mails?</h1>
          <p><b>${shown}</b> gets mails about “${name}”.</p>
          <form method="post" action="/unsubscribe/${token}"><button type="submit">Unsubscribe</button></form>
        </section>`,
      });
}

@Controller()
export class UnsubscribeController {
  readonly #readStore: ReadStore;
  readonly #signer: LinkSigner;
  readonly #saver: TaskSaver;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(LINK_SIGNER) signer: LinkSigner,
    @Inject(TaskSaver) saver: TaskSaver,
  ) {
    this.#readStore = readStore;
    this.#signer = signer;
    this.#saver = saver;
  }

  @Handles(show)
  async show(@Req() request: FastifyRequest): Promise<Answer> {
    const token = tokenOf(request.url);
    return pageOf(await this.#subscribed(token), token);
  }

  @Handles(leave)
  async leave(@Call() { body, context }: RouteCall<typeof leave>, @Req() request: FastifyRequest): Promise<Answer> {
    const token = tokenOf(request.url);
    const subscribed = await this.#subscribed(token);
    const { task, recipient } = subscribed;
    const by: RequestContext = { ...context, organizationId: task.organizationId, actor: `link:${recipient.actionId}` };
    const type = body.again === undefined ? 'leaveRecipients' : 'rejoinRecipients';
    await this.#saver.send({ type, taskId: task.id, ...recipient }, by);
    return pageOf(await this.#subscribed(token), token);
  }

  async #subscribed(token: string): Promise<Subscribed> {
    const [taskId, actionId, recipient, shown] = this.#signer.read('unsubscribe', token) ?? [];
    if (taskId === undefined || actionId === undefined || recipient === undefined || shown === undefined) {
      throw notFound('link');
    }
    const task = await this.#readStore.get(tasksView, taskId);
    if (task === null || !task.spec.actions.some(({ id }) => id === actionId)) throw notFound('link');
    return { task, recipient: { actionId, recipient, shown } };
  }
}
