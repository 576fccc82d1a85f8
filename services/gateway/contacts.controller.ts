/** HTTP for contacts: the named receivers of an organisation. */
import { Controller, Inject } from '@nestjs/common';
import type { RequestContext } from '#bus/bus';
import { contactInput, contactsView, type ContactDocument, type ContactInput } from '#contracts/contact';
import { tasksView } from '#contracts/task';
import { data, list, type Answer } from '#http/envelope';
import { offsetOf } from '#http/parameters';
import { Call, Handles, type RouteCall } from '#http/route';
import { refuse, validated } from '#http/validation';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError, notFound } from '#runtime/errors';
import * as routes from './contacts.routes.js';
import { ContactSaver } from './contacts.saver.js';
import { toJsonObject } from './json-casts.js';
import { mergePatch } from './merge-patch.js';
import { everyDocument } from './paging.js';

/** So many tasks are named where a contact is in use. */
const mostNamed = 100;

@Controller()
export class ContactsController {
  readonly #readStore: ReadStore;
  readonly #contacts: ContactSaver;

  constructor(@Inject(READ_STORE) readStore: ReadStore, @Inject(ContactSaver) contacts: ContactSaver) {
    this.#readStore = readStore;
    this.#contacts = contacts;
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
    const shown = await Promise.all(documents.map((contact) => this.#contacts.shown(contact)));
    return list(shown, query, total ?? 0);
  }

  @Handles(routes.createContact)
  async create(@Call() { body, context }: RouteCall<typeof routes.createContact>): Promise<Answer> {
    const made = await this.#contacts.write(await this.#contacts.prepare(body, null, context.organizationId), context);
    return data(made, { status: 201, headers: { location: `/api/contacts/${body.name}` } });
  }

  @Handles(routes.getContact)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getContact>): Promise<Answer> {
    return data(await this.#contacts.shown(await this.#find(ids.name, context)));
  }

  @Handles(routes.replaceContact)
  async replace(@Call() { ids, body, context }: RouteCall<typeof routes.replaceContact>): Promise<Answer> {
    return this.#replace(body, await this.#find(ids.name, context), context);
  }

  @Handles(routes.patchContact)
  async patch(@Call() { ids, body, context }: RouteCall<typeof routes.patchContact>): Promise<Answer> {
    const known = await this.#find(ids.name, context);
    const { createdAt: _createdAt, updatedAt: _updatedAt, ...settable } = await this.#contacts.shown(known);
    const patched = validated(contactInput, mergePatch(settable, toJsonObject(body)), 'body');
    return this.#replace(patched, known, context);
  }

  @Handles(routes.deleteContact)
  async remove(@Call() { ids, context }: RouteCall<typeof routes.deleteContact>): Promise<Answer> {
    const found = await this.#find(ids.name, context);
    const { name } = found;
    const users = await this.#contacts.remove(found, () => this.#usersOf(found), context);
    if (users.length > 0) {
      const details = users.map((id) => ({ field: 'name', rule: 'in_use', message: id }));
      throw new AppError('VALIDATION_ERROR', 'in_use', `Actions of ${users.length} notifications go to ${name}.`, {
        details,
      });
    }
    return data({ name, deleted: true });
  }

  async #usersOf({ name, organizationId }: ContactDocument): Promise<readonly string[]> {
    const users: string[] = [];
    const ofOrganization = [{ field: 'organizationId', equals: organizationId }] as const;
    for await (const { id, spec } of everyDocument(this.#readStore, tasksView, 'createdAt', ofOrganization)) {
      if (spec.actions.some(({ contact }) => contact === name)) users.push(id);
      if (users.length >= mostNamed) break;
    }
    return users;
  }

  @Handles(routes.rotateContactSecret)
  async rotateSecret(@Call() { ids, body, context }: RouteCall<typeof routes.rotateContactSecret>): Promise<Answer> {
    const known = await this.#find(ids.name, context);
    const rotated = await this.#contacts.prepareRotation(known, body.overlapSeconds);
    return data(await this.#contacts.write(rotated, context));
  }

  async #replace(input: ContactInput, known: ContactDocument, context: RequestContext): Promise<Answer> {
    if (input.name !== known.name) {
      throw refuse(['name'], 'fixed', `must stay ${known.name}: actions go by it`, 'name_fixed');
    }
    return data(
      await this.#contacts.write(await this.#contacts.prepare(input, known, context.organizationId), context),
    );
  }

  async #find(name: string, { organizationId }: RequestContext): Promise<ContactDocument> {
    const found = await this.#contacts.get(organizationId, name);
    if (found === null) throw notFound('contact');
    return found;
  }
}
