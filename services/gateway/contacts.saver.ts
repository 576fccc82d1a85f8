/** From a contact as a user wrote it to the command that stores it: checked, masks resolved, sealed under the key of its organisation. */
import { Inject, Injectable } from '@nestjs/common';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { declarationOf } from '#channels/declarations';
import { requests } from '#contracts/catalogue';
import {
  contactChanged,
  contactId,
  contactScope,
  contactsView,
  type ContactCommand,
  type ContactDocument,
  type ContactInput,
  type StoredContact,
} from '#contracts/contact';
import { createPositionWaiter, type PositionWaiter } from '#read-store/await-position';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { notFound } from '#runtime/errors';
import { diffPaths } from '#runtime/json-diff';
import type { JsonObject } from '#runtime/json';
import { VAULT, type Vault } from '#vault/vault';
import { checkConfig } from './check-settings.js';
import { toJsonObject } from './json-casts.js';
import { withRotated } from './rotated-secrets.js';
import { TaskSaver, withGenerated } from './save-task.js';
import { keepSealed, secretsOfAction, shownChange, unmasked, type ShownChange } from './secrets.js';
import { shownConfig } from './task-answer.js';

/** What was written stands, whether or not the view shows it by then. */
const viewWaitMs = 5_000;
/** For tasks that were written at the same time: their view has no position of a contact's own where none was. */
const tasksWaitMs = 500;

export interface PreparedContact {
  readonly contact: StoredContact;
  /** null: it is created. */
  readonly known: ContactDocument | null;
  /** Members of the config that this very request made: shown this once. */
  readonly made: readonly string[];
  /** Against what is stored, sealed values left out. */
  readonly changes: readonly ShownChange[];
}

@Injectable()
export class ContactSaver {
  readonly #readStore: ReadStore;
  readonly #bus: Bus;
  readonly #vault: Vault;
  readonly #saver: TaskSaver;
  readonly #clock: Clock;
  readonly #waiter: PositionWaiter;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(BUS) bus: Bus,
    @Inject(VAULT) vault: Vault,
    @Inject(TaskSaver) saver: TaskSaver,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#readStore = readStore;
    this.#bus = bus;
    this.#vault = vault;
    this.#saver = saver;
    this.#clock = clock;
    this.#waiter = createPositionWaiter(readStore, contactsView);
  }

  async get(organizationId: string, name: string): Promise<ContactDocument | null> {
    return this.#readStore.get(contactsView, contactId(organizationId, name));
  }

  /** Rejects with the first fault of it, whose place begins with `field`. Nothing is written. */
  async prepare(
    input: ContactInput,
    known: ContactDocument | null,
    organizationId: string,
    field: readonly PropertyKey[] = [],
  ): Promise<PreparedContact> {
    await checkConfig(this.#saver.checks, input, field);
    const stored = known?.type === input.type ? known.config : null;
    const clear = stored === null ? null : await this.#open(organizationId, input.name, stored);
    const place = [...field, 'config'];
    const given = unmasked(toJsonObject(input.config), clear, secretsOfAction(input.type), place);
    const { config, made } = withGenerated(given, clear, declarationOf(input.type).generated);
    const kept = stored === null || clear === null ? config : keepSealed(config, clear, stored);
    return this.#prepared({ name: input.name, type: input.type, config: kept }, known, organizationId, made);
  }

  /** New secrets, and the old ones beside them until the overlap ends. */
  async prepareRotation(known: ContactDocument, overlapSeconds: number): Promise<PreparedContact> {
    const { organizationId, name, type } = known;
    const clear = await this.#open(organizationId, name, known.config);
    const until = overlapSeconds === 0 ? null : toTimestamp(this.#clock.now() + overlapSeconds * 1_000);
    const { config, made } = withRotated(type, clear, until);
    return this.#prepared({ name, type, config: keepSealed(config, clear, known.config) }, known, organizationId, made);
  }

  /** The contact as it is answered then. */
  async write({ contact, known, made }: PreparedContact, context: RequestContext): Promise<JsonObject> {
    await this.send({ type: known === null ? 'createContact' : 'replaceContact', contact }, context);
    const after = await this.get(context.organizationId, contact.name);
    if (after === null) throw notFound('contact');
    return this.shown(after, made);
  }

  /**
   * Removes it where nothing uses it, and returns what does. A task that came to name it meanwhile has it back: `usersOf` is asked
   * again half a second later, when what was written at the same time is seen.
   */
  async remove(
    { name, type, config }: ContactDocument,
    usersOf: () => Promise<readonly string[]>,
    context: RequestContext,
  ): Promise<readonly string[]> {
    const before = await usersOf();
    if (before.length > 0) return before;
    await this.#saver.seen(await this.send({ type: 'removeContact', name }, context), tasksWaitMs);
    const users = await usersOf();
    if (users.length > 0) await this.send({ type: 'createContact', contact: { name, type, config } }, context);
    return users;
  }

  /** The position of what was written; null: nothing was. */
  async send(command: ContactCommand, context: RequestContext): Promise<number | null> {
    const answer = await this.#bus.request(requests.contactChange, toJsonObject(command), context);
    const { position } = contactChanged.parse(answer);
    if (position !== null) await this.#waiter.reached(position, viewWaitMs);
    return position;
  }

  /** `made`: what this very request generated is in clear. */
  async shown(
    { organizationId, name, type, config, createdAt, updatedAt }: ContactDocument,
    made: readonly string[] = [],
  ): Promise<JsonObject> {
    const opened = await this.#open(organizationId, name, config);
    return { name, type, config: shownConfig(type, opened, made), createdAt, updatedAt };
  }

  async #prepared(
    contact: StoredContact,
    known: ContactDocument | null,
    organizationId: string,
    made: readonly string[],
  ): Promise<PreparedContact> {
    const { name, type } = contact;
    const config = await this.#vault.seal(
      organizationId,
      contactScope(name),
      contact.config,
      declarationOf(type).sealed,
    );
    const before = known === null ? {} : { type: known.type, config: known.config };
    const changes = diffPaths(before, { type, config }).map(shownChange);
    return { contact: { name, type, config }, known, made, changes };
  }

  async #open(organizationId: string, name: string, config: JsonObject): Promise<JsonObject> {
    return this.#vault.open(organizationId, contactScope(name), config);
  }
}
