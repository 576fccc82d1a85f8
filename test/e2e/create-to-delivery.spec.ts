/** The product: a task is created, a page changes, people are told once; whatever dies on the way. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Execution } from './kit/api.js';
import { startHookSink, verified, type HookSink } from './kit/hook-sink.js';
import { embeddedInstallation, type Installation } from './kit/installation.js';
import { brokenStreams, unansweredRuns, uncoveredSlots, wrongArrivals, wrongDecisions } from './kit/invariants.js';
import { startMailSink, type MailSink } from './kit/mail-sink.js';
import { html, startPageSite, type PageSite } from './kit/page-site.js';
import { byHand, whenInStock } from './kit/settings.js';
import { momentsLater, seededRandom, until } from './kit/until.js';

const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
/** A mail that was on its way when the process died counts as lost after a minute; then it is sent again. */
const lostMailMs = 100_000;

let site: PageSite;
let mails: MailSink;
let hooks: HookSink;

beforeAll(async () => {
  [site, mails, hooks] = await Promise.all([startPageSite(), startMailSink(), startHookSink()]);
});

afterAll(async () => {
  await Promise.all([site.close(), mails.close(), hooks.close()]);
});

/** One watched page and everybody who is told of it. */
class Watch {
  taskId = '';

  constructor(
    readonly installation: Installation,
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
    site.serve(this.path, html(inStock ? 'in stock' : 'sold out'));
  }

  async create(): Promise<void> {
    this.flip(false);
    const { id } = await this.installation.api.create({
      ...whenInStock(site.address(this.path)),
      actions: [
        { type: 'email', config: { to: this.mailbox, subject: 'In stock' } },
        { type: 'webhook', config: { url: hooks.address(this.path), secret, timeoutSeconds: 1 } },
      ],
    });
    this.taskId = id;
    await this.recorded('a first run', ({ outcome }) => outcome === false);
  }

  mails() {
    return mails.received.filter(({ recipients }) => recipients.includes(this.mailbox));
  }

  hooks() {
    return hooks.received(this.path);
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
  async told(times: number, deadlineMs?: number): Promise<void> {
    const ids = (all: readonly string[]): number => new Set(all).size;
    await until(
      `${this.name} was told of ${times} times`,
      () =>
        ids(this.hooks().flatMap(({ id, answer }) => (answer === 200 ? id : []))) === times &&
        ids(this.mails().flatMap(({ messageId, answer }) => (answer === 250 ? messageId : []))) === times,
      deadlineMs,
    );
  }

  async runsWithout(news: number): Promise<void> {
    const still = async (): Promise<number> =>
      (await this.installation.api.executions(this.taskId)).filter(({ decision }) => decision?.reason === 'still_true')
        .length;
    const before = await still();
    await until(`${news} more runs find the same`, async () => (await still()) >= before + news);
  }

  /** Stops it and waits until nothing of it is under way. */
  async settle(): Promise<void> {
    const { api } = this.installation;
    await api.send(`/api/notifications/${this.taskId}`, { method: 'PATCH', json: { status: 'paused' } });
    const open = ['queued', 'running', 'pending', 'sending', 'retrying'];
    await until(
      `nothing of ${this.name} is under way`,
      async () => {
        const runs = await api.executions(this.taskId);
        const deliveries = await api.deliveries(this.taskId);
        return ![...runs.map(({ status }) => status), ...deliveries.map(({ state }) => state)].some((state) =>
          open.includes(state),
        );
      },
      lostMailMs,
    );
  }
}

/** Ends the installation in order and holds its record against what the receivers saw. */
async function expectWhole(watch: Watch): Promise<void> {
  await watch.settle();
  expect(await watch.installation.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  const events = await watch.installation.recordedEvents();
  const hooksSeen = watch.hooks().map(({ id, body }) => ({ id, bytes: body }));
  const mailsSeen = watch.mails().map(({ messageId, raw }) => ({
    id: /^<(\w+)@/.exec(messageId)?.[1] ?? messageId,
    bytes: raw,
  }));
  expect({
    brokenStreams: brokenStreams(events),
    uncoveredSlots: uncoveredSlots(events),
    unansweredRuns: unansweredRuns(events),
    wrongDecisions: wrongDecisions(events),
    wrongHooks: wrongArrivals(events, 'webhook', hooksSeen),
    wrongMails: wrongArrivals(events, 'email', mailsSeen),
  }).toEqual({
    brokenStreams: [],
    uncoveredSlots: [],
    unansweredRuns: [],
    wrongDecisions: [],
    wrongHooks: [],
    wrongMails: [],
  });
  expect(watch.installation.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
}

/** Killed at many moments. What it told is looked at last, since a mail that was on its way then comes again after a minute. */
let killed: Watch;
let timesKilledWasTold = 0;

/** Begun first for the same reason: killed while the mail server has the message and has not answered. */
let killedInMail: { readonly watch: Watch; readonly over: Promise<void> };

beforeAll(async () => {
  killed = new Watch(await embeddedInstallation({ smtpUrl: mails.url }), 'killed');
  const watch = new Watch(await embeddedInstallation({ smtpUrl: mails.url }), 'killed-in-mail');
  const story = async (): Promise<void> => {
    await watch.installation.start();
    await watch.create();
    mails.reply(watch.mailbox, 'hold');
    watch.flip(true);
    await until('the mail is in the hands of the server', () => watch.mails().length === 1);
    await watch.installation.kill('SIGKILL');
    await watch.installation.start();
    await watch.told(1, lostMailMs);
  };
  const over = story();
  // Awaited by its own test; until then a failure is not an unhandled one.
  over.catch(() => undefined);
  killedInMail = { watch, over };
});

afterAll(async () => {
  await Promise.all([killed.installation.remove(), killedInMail.watch.installation.remove()]);
});

describe('a process that is killed', () => {
  const random = seededRandom(20_261_121);
  let watch: Watch;

  beforeAll(async () => {
    await killed.installation.start();
    await killed.create();
    watch = killed;
  });

  const killAndStart = async (): Promise<void> => {
    expect(await watch.installation.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await watch.installation.start();
  };

  it.each(Array.from({ length: 5 }, (_, index) => Math.floor((index + random()) * 20)))(
    '%i ms after the changed page was loaded tells of it once',
    async (delayMs) => {
      const { loads } = site;
      const before = loads(watch.path);
      watch.flip(true);
      await until('the changed page is loaded', () => loads(watch.path) > before);
      await momentsLater(delayMs);
      await killAndStart();
      await watch.seen(true);
      timesKilledWasTold += 1;
      await watch.seen(false);
    },
  );

  it('while a webhook hangs open sends it again under the same id, with the same bytes', async () => {
    await until('what the kills before left open has arrived', async () => {
      const deliveries = await watch.installation.api.deliveries(watch.taskId);
      return deliveries.every(({ actionType, state }) => actionType !== 'webhook' || state === 'delivered');
    });
    hooks.reply(watch.path, 'hang');
    const before = watch.hooks().length;
    const newestMail = async () =>
      (await watch.installation.api.deliveries(watch.taskId)).find(({ actionType }) => actionType === 'email');
    const mailBefore = await newestMail();
    watch.flip(true);
    await until('the webhook is open', () => watch.hooks().length > before);
    await until('the mail beside it is delivered', async () => {
      const mail = await newestMail();
      return mail?.id !== mailBefore?.id && mail?.state === 'delivered';
    });
    await killAndStart();
    timesKilledWasTold += 1;
    const [first, second] = await until('it comes again', () => {
      const hanging = watch.hooks().find(({ answer }) => answer === null);
      const same = watch.hooks().filter(({ id }) => id === hanging?.id);
      return same.length >= 2 ? same : null;
    });
    expect([second?.id, second?.body, second?.answer]).toEqual([first?.id, first?.body, 200]);
    for (const hook of [first, second]) if (hook !== undefined) verified(hook, secret);
  });

  it('between runs, the page being as it was, tells nothing', async () => {
    await watch.runsWithout(1);
    const tellings = async (): Promise<number> =>
      (await watch.installation.api.executions(watch.taskId)).filter(({ decision }) => decision?.notify).length;
    const before = await tellings();
    for (let round = 0; round < 2; round += 1) {
      await momentsLater(random() * 900);
      await killAndStart();
    }
    await watch.runsWithout(2);
    expect(await tellings()).toBe(before);
  });

  it('and is down while the page changes tells of it after the start', async () => {
    await watch.seen(false);
    await watch.installation.kill('SIGKILL');
    watch.flip(true);
    await momentsLater(1_500);
    await watch.installation.start();
    await watch.seen(true);
    timesKilledWasTold += 1;
  });

  it('during a burst of creates keeps each that was answered, and takes each repeat for the same', async () => {
    const count = 60;
    const create = (index: number): Promise<string> =>
      watch.installation.api
        .create(
          { ...byHand(site.address(watch.path)), name: `Burst ${index}` },
          { 'idempotency-key': `burst-${index}` },
        )
        .then(({ id }) => id);
    const answered = new Map<number, string>();
    const killAt = Math.floor(10 + random() * 30);
    let enough = (): void => undefined;
    const reached = new Promise<void>((resolve) => (enough = resolve));
    const burst = Array.from({ length: count }, async (_, index) => {
      try {
        answered.set(index, await create(index));
        if (answered.size >= killAt) enough();
      } catch {
        // It was not answered: nothing is promised of it.
      }
    });
    await reached;
    await killAndStart();
    await Promise.all(burst);
    expect(answered.size).toBeGreaterThanOrEqual(killAt);
    for (const [index, id] of answered) expect((await watch.installation.api.task(id)).name).toBe(`Burst ${index}`);
    for (let index = 0; index < count; index += 1) {
      const id = await create(index);
      expect(id).toBe(answered.get(index) ?? id);
    }
    const reply = await watch.installation.api.send('/api/notifications?q=burst&limit=1');
    expect(reply.body).toMatchObject({ pagination: { total: count } });
  });
});

describe('a page that changes', () => {
  let watch: Watch;

  beforeAll(async () => {
    watch = new Watch(await embeddedInstallation({ smtpUrl: mails.url }), 'calm');
    await watch.installation.start();
    await watch.create();
  });

  afterAll(async () => {
    await watch.installation.remove();
  });

  it('is told of by one mail and one signed webhook', async () => {
    expect([watch.mails(), watch.hooks()]).toEqual([[], []]);
    const run = await watch.seen(true);
    await watch.told(1);
    const [hook] = watch.hooks();
    const [mail] = watch.mails();
    if (hook === undefined || mail === undefined) throw new Error('nothing came');
    const { api, url } = watch.installation;
    const deliveries = await until('both are known to be delivered', async () => {
      const all = await api.deliveries(watch.taskId);
      return all.length === 2 && all.every(({ state }) => state === 'delivered') && all;
    });
    const idOf = (type: string): string => deliveries.find(({ actionType }) => actionType === type)?.id ?? '';
    expect(verified(hook, secret)).toMatchObject({
      type: 'notification.triggered',
      data: {
        task: { id: watch.taskId, name: 'Stock', url: site.address(watch.path) },
        execution: { outcome: true, finalUrl: site.address(watch.path) },
        transition: { kind: 'condition', from: 'false', to: 'true' },
      },
    });
    expect(hook.id).toBe(idOf('webhook'));
    expect(mail.messageId).toContain(idOf('email'));
    expect(mail.subject).toBe('In stock');
    expect(mail.raw).toContain(site.address(watch.path));
    const links = verified(hook, secret).data['links'] as Record<string, string>;
    const linked = await fetch(new URL(new URL(links['execution'] ?? '').pathname, url), {
      headers: { authorization: `Bearer ${watch.installation.apiKey}` },
    });
    expect(linked.status).toBe(200);
    expect(run.page?.status).toBe(200);
    expect((await api.task(watch.taskId)).condition).toBe('true');
  });

  it('is not told of again while it stays so', async () => {
    await watch.runsWithout(3);
    await watch.told(1);
    expect([watch.mails().length, watch.hooks().length]).toEqual([1, 1]);
  });

  it('is told of again, once each, when it has changed back and again', async () => {
    await watch.seen(false);
    await watch.seen(true);
    await watch.told(2);
    expect([watch.mails().length, watch.hooks().length]).toEqual([2, 2]);
  });

  it('leaves a record that agrees with what the receivers saw', async () => {
    await expectWhole(watch);
    expect([watch.mails().length, watch.hooks().length]).toEqual([2, 2]);
  });
});

describe('whatever was killed', () => {
  it(
    'a mail that the server had is sent again under the same Message-ID, the same to the byte',
    async () => {
      const { watch, over } = killedInMail;
      await over;
      await expectWhole(watch);
      const [first, second, ...others] = watch.mails();
      expect(others).toEqual([]);
      expect([first?.answer, second?.answer]).toEqual([null, 250]);
      expect(second?.messageId).toBe(first?.messageId);
      expect(second?.raw).toBe(first?.raw);
      expect(watch.hooks()).toHaveLength(1);
    },
    lostMailMs + 30_000,
  );

  it(
    'everybody was told once of each change, and the record agrees',
    async () => {
      await killed.told(timesKilledWasTold, lostMailMs);
      await expectWhole(killed);
    },
    lostMailMs + 30_000,
  );
});
