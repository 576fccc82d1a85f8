/** A run of settings that are not saved: checked as if they were, then asked of the execution service. */
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { requests } from '#contracts/catalogue';
import { sealedFetchPaths } from '#contracts/fetch';
import { testExecution, testRunOf, type TestExecution } from '#contracts/run';
import type { TaskInput } from '#contracts/task';
import type { IdempotentAttempt } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { derivedId, IDS, type Ids } from '#runtime/ids';
import { SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { VAULT, type Vault } from '#vault/vault';
import { checkDependencies, presentTasks } from './check-dependencies.js';
import { checkSettings, createCodeChecker, type SettingsChecks } from './check-settings.js';
import { toJsonObject } from './json-casts.js';
import { knownContact } from './known-contact.js';
import { PageReach } from './page-reach.js';
import { secretsOfFetch, unmasked } from './secrets.js';
import { fetchScope } from './task-answer.js';

/** Longer than a test may take to load its page and wait for its turn. */
const deadlineMs = 75_000;

const answer = z.object({ execution: testExecution });

@Injectable()
export class TaskTester {
  readonly #checks: SettingsChecks;

  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(SANDBOX) sandbox: Sandbox,
    @Inject(PageReach) { outbound, rendering }: PageReach,
    @Inject(CONFIG) { minIntervalSeconds, smtpUrl, commands }: Config,
  ) {
    // Nothing is sent, so that code can be tried before there is a mail server.
    const config = { minIntervalSeconds, commands, smtpUrl: smtpUrl ?? 'smtp://localhost' };
    this.#checks = { config, outbound, code: createCodeChecker(sandbox), rendering };
  }

  async test(input: TaskInput, context: RequestContext, attempt: IdempotentAttempt | null): Promise<TestExecution> {
    const codeForm = await checkSettings(this.#checks, input);
    const { organizationId } = context;
    for (const [index, action] of input.actions.entries()) {
      if (action.type !== undefined) continue;
      await knownContact(this.readStore, organizationId, action.contact, ['actions', index]);
    }
    await checkDependencies(presentTasks(this.readStore), organizationId, input.policy.dependsOn, null);
    const fetch = unmasked(toJsonObject(input.fetch), null, secretsOfFetch, ['fetch']);
    const run = testRunOf(input, {
      runId:
        attempt === null
          ? this.ids.next('exe')
          : derivedId('exe', attempt.startedAtMs, organizationId, 'test', attempt.key),
      codeForm,
      fetch: await this.vault.seal(organizationId, fetchScope, fetch, sealedFetchPaths(fetch)),
      queuedAt: toTimestamp(this.clock.now()),
    });
    const request = input.fetch.mode === 'browser' ? requests.renderTest : requests.runTest;
    const reply = await this.bus.request(request, toJsonObject(run), context, deadlineMs);
    return answer.parse(reply).execution;
  }
}
