/** A page that is watched by hand, and what its receiver was sent: for scenarios that say when each run is. */
import { z } from 'zod';
import type { Execution, Task } from './api.js';
import { verified } from './hook-sink.js';
import type { Installation } from './installation.js';
import { answering, html } from './page-site.js';
import { byHand } from './settings.js';
import { until } from './until.js';
import { secret, type World } from './watch.js';

const sentence = z.string();

export class HandWatch {
  task: Task | null = null;

  constructor(
    readonly installation: Installation,
    readonly world: World,
    readonly name: string,
  ) {}

  get id(): string {
    if (this.task === null) throw new Error(`${this.name} was not created`);
    return this.task.id;
  }

  get path(): string {
    return `/${this.name}`;
  }

  async create(policy: object, more: object = {}): Promise<this> {
    this.task = await this.installation.api.create({
      ...byHand(this.world.site.address(this.path)),
      fetch: { retry: { attempts: 1 } },
      policy,
      actions: [
        {
          type: 'webhook',
          on: ['triggered', 'recovered', 'error'],
          config: { url: this.world.hooks.address(this.path), secret },
        },
      ],
      ...more,
    });
    return this;
  }

  async change(settings: object): Promise<void> {
    const { status, text } = await this.installation.api.send(`/api/notifications/${this.id}`, {
      method: 'PATCH',
      json: settings,
    });
    if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  }

  async run(body: object = {}): Promise<Execution> {
    return this.installation.api.execute(this.id, 30, body);
  }

  async reason(): Promise<string> {
    return (await this.run()).decision?.reason ?? 'none';
  }

  /** A run on a page in stock (true), sold out (false) or broken (null). */
  async runOn(outcome: boolean | null, body: object = {}): Promise<Execution> {
    const stock = html(outcome === true ? 'in stock' : 'sold out');
    this.world.site.serve(this.path, outcome === null ? answering(503) : stock);
    return this.run(body);
  }

  /** The reasons for such pages, one after the other. */
  async reasons(...outcomes: readonly (boolean | null)[]): Promise<readonly string[]> {
    const found: string[] = [];
    for (const outcome of outcomes) found.push((await this.runOn(outcome)).decision?.reason ?? 'none');
    return found;
  }

  /** The sentences that the receiver was sent, sorted, once all messages are delivered and there are so many. */
  async said(count: number): Promise<readonly string[]> {
    await until(`${count} messages of ${this.name} are all there are`, async () => {
      const deliveries = await this.installation.api.deliveries(this.id);
      if (deliveries.length === count && deliveries.every(({ state }) => state === 'delivered')) return true;
      throw new Error(`there are ${deliveries.map(({ state }) => state).join(', ')}`);
    });
    return this.world.hooks
      .received(this.path)
      .map((hook) => sentence.parse(verified(hook, secret).data['message']).replace(/^"Stock":? /, ''))
      .toSorted();
  }

  /** The task, once it shows this condition. */
  async shows(condition: string): Promise<Task> {
    return until(`${this.name} shows ${condition}`, async () => {
      const task = await this.installation.api.task(this.id);
      return task.condition === condition ? task : null;
    });
  }
}
