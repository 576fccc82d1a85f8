/** HTTP for contacts: the named receivers of an organisation. */
import { Controller, Inject } from '@nestjs/common';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { declarationOf } from '#channels/declarations';
import { requests } from '#contracts/catalogue';
import {
  contactChanged,
  contactId,
  contactInput,
  contactScope,
  contactsView,
  type ContactCommand,
  type ContactDocument,
  type ContactInput,
  type StoredContact,
} from '#contracts/contact';
import { tasksView } from '#contracts/task';
import { data, list, type Answer } from '#http/envelope';
import { offsetOf } from '#http/parameters';
import { Call, Handles, type RouteCall } from '#http/route';
import { refuse, validated } from '#http/validation';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError, notFound } from '#runtime/errors';
import type { JsonObject } from '#runtime/json';
import { VAULT, type Vault } from '#vault/vault';
import { checkConfig } from './check-settings.js';
import * as routes from './contacts.routes.js';
import { toJsonObject } from './json-casts.js';
import { mergePatch } from './merge-patch.js';
import { everyDocument } from './paging.js';
import { TaskSaver, withGenerated } from './save-task.js';
import { keepSealed, secretsOfAction, unmasked } from './secrets.js';
import { shownConfig } from './task-answer.js';

/** What was written stands, whether or not the view shows it by then. */
const viewWaitMs = 5_000;
/** So many tasks are named where a contact is in use. */
const mostNamed = 100;

@Controller()
export class ContactsController {
  readonly #readStore: ReadStore;
  readonly #bus: Bus;
  readonly #vault: Vault;
  readonly #saver: TaskSaver;
  readonly #waiter: PositionWaiter;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(BUS) bus: Bus,
    @Inject(VAULT) vault: Vault,
    @Inject(TaskSaver) saver: TaskSaver,
  ) {
    this.#readStore = readStore;
    this.#bus = bus;
    this.#vault = vault;
    this.#saver = saver;
    this.#waiter = createPositionWaiter(readStore, contactsView);
  }

  @Handles(routes.listContacts)
  async list(@Call() { query, context }: RouteCall<typeof routes.listContacts>): Promise<Answer> {
    const { documents, total } = await this.#readStore.page(contactsView, {
      where: [{ field: 'organizationId', equals: context.organizationId }],
      sort: [{ field: 'name', descending: false }],
      limit: query.limit,
      offset: offsetOf(query),
      count: true,
    });
    const shown = await Promise.all(documents.map((contact) => this.#shown(contact)));
    return list(shown, query, total ?? 0);
  }

  @Handles(routes.createContact)
  async create(@Call() { body, context }: RouteCall<typeof routes.createContact>): Promise<Answer> {
    const made = await this.#save('createContact', body, null, context);
    return data(made, { status: 201, headers: { location: `/api/contacts/${body.name}` } });
  }

  @Handles(routes.getContact)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getContact>): Promise<Answer> {
    return data(await this.#shown(await this.#find(ids.name, context)));
  }

  @Handles(routes.replaceContact)
  async replace(@Call() { ids, body, context }: RouteCall<typeof routes.replaceContact>): Promise<Answer> {
    return this.#replace(body, await this.#find(ids.name, context), context);
  }

  @Handles(routes.patchContact)
  async patch(@Call() { ids, body, context }: RouteCall<typeof routes.patchContact>): Promise<Answer> {
    const known = await this.#find(ids.name, context);
    const { createdAt: _createdAt, updatedAt: _updatedAt, ...settable } = await this.#shown(known);
    const patched = validated(contactInput, mergePatch(settable, toJsonObject(body)), 'body');
    return this.#replace(patched, known, context);
  }

  @Handles(routes.deleteContact)
  async remove(@Call() { ids, context }: RouteCall<typeof routes.deleteContact>): Promise<Answer> {
    const { name, organizationId } = await this.#find(ids.name, context);
    const users: string[] = [];
    const ofOrganization = [{ field: 'organizationId', equals: organizationId }] as const;
    for await (const { id, spec } of everyDocument(this.#readStore, tasksView, 'createdAt', ofOrganization)) {
      if (spec.actions.some(({ contact }) => contact === name)) users.push(id);
      if (users.length >= mostNamed) break;
    }
    if (users.length > 0) {
      const details = users.map((id) => ({ field: 'name', rule: 'in_use', message: id }));
      throw new AppError('VALIDATION_ERROR', 'in_use', `Actions of ${users.length} notifications go to ${name}.`, {
        details,
      });
    }
    await this.#send({ type: 'removeContact', name }, context);
    return data({ name, deleted: true });
  }

  async #replace(input: ContactInput, known: ContactDocument, context: RequestContext): Promise<Answer> {
    if (input.name !== known.name) {
      throw refuse(['name'], 'fixed', `must stay ${known.name}: actions go by it`, 'name_fixed');
    }
    return data(await this.#save('replaceContact', input, known, context));
  }

  /** Checked, masks resolved, sealed under the key of the organisation. */
  async #save(
    type: 'createContact' | 'replaceContact',
    input: ContactInput,
    known: ContactDocument | null,
    context: RequestContext,
  ): Promise<JsonObject> {
    await checkConfig(this.#saver.checks, input, []);
    const { organizationId } = context;
    const scope = contactScope(input.name);
    const stored = known?.type === input.type ? known.config : null;
    const clear = stored === null ? null : await this.#vault.open(organizationId, scope, stored);
    const { sealed, generated } = declarationOf(input.type);
    const given = unmasked(toJsonObject(input.config), clear, secretsOfAction(input.type), ['config']);
    const { config, made } = withGenerated(given, clear, generated);
    const kept = stored === null || clear === null ? config : keepSealed(config, clear, stored);
    const contact: StoredContact = {
      name: input.name,
      type: input.type,
      config: await this.#vault.seal(organizationId, scope, kept, sealed),
    };
    await this.#send({ type, contact }, context);
    const after = await this.#readStore.get(contactsView, contactId(organizationId, input.name));
    if (after === null) throw notFound('contact');
    return this.#shown(after, made);
  }

  async #send(command: ContactCommand, context: RequestContext): Promise<void> {
    const changed = contactChanged.parse(
      await this.#bus.request(requests.contactChange, toJsonObject(command), context),
    );
    if (changed.position !== null) await this.#waiter.reached(changed.position, viewWaitMs);
  }

  async #find(name: string, { organizationId }: RequestContext): Promise<ContactDocument> {
    const found = await this.#readStore.get(contactsView, contactId(organizationId, name));
    if (found === null) throw notFound('contact');
    return found;
  }

  async #shown(
    { organizationId, name, type, config, createdAt, updatedAt }: ContactDocument,
    made: readonly string[] = [],
  ): Promise<JsonObject> {
    const opened = await this.#vault.open(organizationId, contactScope(name), config);
    return { name, type, config: shownConfig(type, opened, made), createdAt, updatedAt };
  }
}
