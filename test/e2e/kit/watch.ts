/** A watched page and the receivers of its notifications: the steps of a scenario, and the checks of its events and views. */
import { expect } from '@jest/globals';
import { z } from 'zod';
import type { Execution } from './api.js';
import { startHookSink, type HookSink, type ReceivedHook } from './hook-sink.js';
import type { Installation } from './installation.js';
import { faultsOnRecord, wrongArrivals } from './invariants.js';
import { startMailSink, type MailSink, type ReceivedMail } from './mail-sink.js';
import { html, startPageSite, type PageSite } from './page-site.js';
import { pause, recordAtEnd } from './record-at-end.js';
import { whenInStock } from './settings.js';
import { until } from './until.js';

const lastRun = z.object({ id: z.string() });

export const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;

/** Everything outside the product: the page's site, a mail server, a receiver of webhooks. */
export interface World {
  readonly site: PageSite;
  readonly mails: MailSink;
  readonly hooks: HookSink;
  close(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const [site, mails, hooks] = await Promise.all([startPageSite(), startMailSink(), startHookSink()]);
  return {
    site,
    mails,
    hooks,
    async close() {
      await Promise.all([site.close(), mails.close(), hooks.close()]);
    },
  };
}

/** One watched page and all receivers of its notifications. */
export class Watch {
  taskId = '';

  constructor(
    readonly installation: Installation,
    readonly world: World,
    readonly name: string,
  ) {}

  get path(): string {
    return `/${this.name}`;
  }

  get mailbox(): string {
    return `${this.name}@example.com`;
  }

  /** The page says so from its next load on. */
  flip(inStock: boolean): void {
    this.world.site.serve(this.path, html(inStock ? 'in stock' : 'sold out'));
  }

  async create(): Promise<void> {
    this.flip(false);
    const { id } = await this.installation.api.create({
      ...whenInStock(this.world.site.address(this.path)),
      actions: [
        { type: 'email', config: { to: this.mailbox, subject: 'In stock' } },
        { type: 'webhook', config: { url: this.world.hooks.address(this.path), secret } },
      ],
    });
    this.taskId = id;
    await this.recorded('a first run', ({ outcome }) => outcome === false);
  }

  mails(): readonly ReceivedMail[] {
    return this.world.mails.received.filter(({ recipients }) => recipients.includes(this.mailbox));
  }

  hooks(): readonly ReceivedHook[] {
    return this.world.hooks.received(this.path);
  }

  /** The newest run, once it is as wanted. */
  recorded(what: string, wanted: (run: Execution) => boolean): Promise<Execution> {
    return until(`${what} is recorded`, async () => {
      const [newest] = (await this.installation.api.executions(this.taskId)).filter(
        ({ finishedAt }) => finishedAt !== null,
      );
      return newest !== undefined && wanted(newest) ? newest : null;
    });
  }

  /** Flips and waits until a run has seen it. */
  async seen(inStock: boolean): Promise<Execution> {
    this.flip(inStock);
    return this.recorded(inStock ? 'the page in stock' : 'the page sold out', ({ outcome }) => outcome === inStock);
  }

  /** Both receivers have so many different messages. */
  async told(times: number): Promise<void> {
    const different = (all: readonly string[]): number => new Set(all).size;
    try {
      await until(`${this.name} was told of ${times} times`, () => {
        const hooks = different(this.hooks().flatMap(({ id, answer }) => (answer === 200 ? id : [])));
        const mails = different(this.mails().flatMap(({ messageId, answer }) => (answer === 250 ? messageId : [])));
        if (hooks === times && mails === times) return true;
        throw new Error(`${hooks} webhooks, ${mails} mails`);
      });
    } catch (error) {
      const runs = await this.installation.api.executions(this.taskId);
      const decided = runs.map(({ decision }) => decision?.reason ?? 'nothing yet');
      throw new Error(`${String(error)}; decided, newest first: ${decided.join(', ')}`, { cause: error });
    }
  }

  async runsWithout(news: number): Promise<void> {
    const still = async (): Promise<number> =>
      (await this.installation.api.executions(this.taskId)).filter(({ decision }) => decision?.reason === 'still_true')
        .length;
    const before = await still();
    await until(`${news} more runs find the same`, async () => (await still()) >= before + news);
  }

  /** Waits until every intent so far is delivered. */
  async everybodyTold(): Promise<void> {
    await until(`nothing of ${this.name} is on its way`, async () => {
      const deliveries = await this.installation.api.deliveries(this.taskId);
      return deliveries.every(({ state }) => !['pending', 'sending', 'retrying'].includes(state));
    });
  }

  /** Stops it and waits until nothing of it is under way. */
  async settle(): Promise<void> {
    const { api } = this.installation;
    await pause(this.installation, this.taskId);
    await until(`no run of ${this.name} is under way`, async () =>
      (await api.executions(this.taskId)).every(({ status }) => !['queued', 'running'].includes(status)),
    );
    await this.everybodyTold();
  }

  /** Once it has settled: views have their own pace, the one of its last run may be ahead of those that the task is read from. */
  async toldOfLastRun(): Promise<void> {
    await until(`${this.name} tells of its last run, and of none to come`, async () => {
      const { nextRunAt, lastExecution } = await this.installation.api.task(this.taskId);
      const [newest] = await this.installation.api.executions(this.taskId);
      return nextRunAt === null && lastRun.parse(lastExecution).id === newest?.id;
    });
  }
}

/** Ends the installation in order and holds its record against what the receivers saw. */
export async function expectWhole(watch: Watch): Promise<void> {
  await watch.settle();
  const events = await recordAtEnd(watch.installation, [watch.taskId]);
  const hooksSeen = watch.hooks().map(({ id, body }) => ({ id, bytes: body }));
  const mailsSeen = watch.mails().map(({ messageId, raw }) => ({
    id: /^<(\w+)@/.exec(messageId)?.[1] ?? messageId,
    bytes: raw,
  }));
  expect({
    record: faultsOnRecord(events),
    hooks: wrongArrivals(events, 'webhook', hooksSeen),
    mails: wrongArrivals(events, 'email', mailsSeen),
  }).toEqual({ record: [], hooks: [], mails: [] });
  expect(watch.installation.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
}
