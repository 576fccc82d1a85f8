/** HTTP for the configuration of an organisation as one document. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Controller, Inject } from '@nestjs/common';
import { contactsView } from '#contracts/contact';
import { data, text, type Answer } from '#http/envelope';
import { Call, Handles, type RouteCall } from '#http/route';
import { toYaml } from '#http/yaml';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import type { JsonObject } from '#runtime/json';
import { hasVariables } from '#runtime/text-variables';
import { VAULT, type Vault } from '#vault/vault';
import { Activities } from '../activities.js';
import { ContactSaver } from '../contacts.saver.js';
import { everyDocument } from '../paging.js';
import { openSettings, toTaskAnswer } from '../task-answer.js';
import { allTasks, ConfigurationApplier } from './apply.js';
import { fileKeyOf, toConfigured } from './configuration.js';
import * as routes from './routes.js';

/** Written before everything else has a turn. */
const tasksATurn = 20;

@Controller()
export class ConfigurationController {
  readonly #readStore: ReadStore;
  readonly #vault: Vault;
  readonly #applier: ConfigurationApplier;
  readonly #activities: Activities;
  readonly #contacts: ContactSaver;

  constructor(
    @Inject(READ_STORE) readStore: ReadStore,
    @Inject(VAULT) vault: Vault,
    @Inject(ConfigurationApplier) applier: ConfigurationApplier,
    @Inject(Activities) activities: Activities,
    @Inject(ContactSaver) contacts: ContactSaver,
  ) {
    this.#readStore = readStore;
    this.#vault = vault;
    this.#applier = applier;
    this.#activities = activities;
    this.#contacts = contacts;
  }

  @Handles(routes.exportConfiguration)
  async export(@Call() { context, accept }: RouteCall<typeof routes.exportConfiguration>): Promise<Answer> {
    const exported = { resource: context.organizationId, what: 'configuration' as const };
    await this.#activities.record({ type: 'activity.exported', data: exported }, context);
    const notifications = await this.#configured(context.organizationId);
    const contacts = await this.#contactsOf(context.organizationId);
    const named = contacts.length === 0 ? {} : { contacts };
    const isLiteral = hasVariables([...contacts, ...notifications]);
    const head = { version: 1, ...(isLiteral ? { variables: false } : {}) };
    if (!accept.includes('application/yaml')) return data({ ...head, ...named, notifications });
    const shown = contacts.length === 0 ? '' : `contacts:\n${toYaml(contacts).replaceAll(/^(?=.)/gm, '  ')}`;
    const parts = [`${toYaml(head)}${shown}notifications:${notifications.length === 0 ? ' []' : ''}\n`];
    for (const [index, task] of notifications.entries()) {
      parts.push(toYaml([task]).replaceAll(/^(?=.)/gm, '  '));
      if (index % tasksATurn === 0) await nextTurn();
    }
    return text(parts.join(''), 'application/yaml; charset=utf-8');
  }

  @Handles(routes.applyConfiguration)
  async apply(@Call() { body, query, context }: RouteCall<typeof routes.applyConfiguration>): Promise<Answer> {
    const options = { dryRun: query.dryRun === 'true', archiveMissing: query.archiveMissing === 'true' };
    const plan = await this.#applier.apply(body, options, context);
    return data(plan);
  }

  /** By name, as a file has them. */
  async #contactsOf(organizationId: string): Promise<readonly JsonObject[]> {
    const ofOrganization = [{ field: 'organizationId', equals: organizationId }] as const;
    const found: JsonObject[] = [];
    for await (const contact of everyDocument(this.#readStore, contactsView, 'name', ofOrganization)) {
      const { createdAt: _createdAt, updatedAt: _updatedAt, ...settable } = await this.#contacts.shown(contact);
      found.push(settable);
    }
    return found;
  }

  async #configured(organizationId: string): Promise<readonly JsonObject[]> {
    const answers: (readonly [string, JsonObject])[] = [];
    const keys = new Map<string, string>();
    const tasks = await Array.fromAsync(allTasks(this.#readStore, organizationId));
    // Several tasks of a file are made at a time: their ids have its order, their times may not.
    for (const task of tasks.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
      const key = fileKeyOf(task);
      keys.set(task.id, key);
      answers.push([key, toTaskAnswer(task, await openSettings(this.#vault, task), task)]);
    }
    return answers.map(([key, answer]) => toConfigured(answer, key, keys));
  }
}
