/**
 * `npm run chaos -- --bursts`: kills one process again and again in the middle of bursts of deliveries, without waiting for it to
 * recover, then has everything sent that is left and judges what arrived. Settings come from scripts/chaos.mjs by the environment.
 */
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import type { RecordedEvent } from '#event-store/event-store';
import { embeddedInstallation } from '../e2e/kit/embedded.js';
import type { HookReply } from '../e2e/kit/hook-sink.js';
import type { Installation } from '../e2e/kit/installation.js';
import { html } from '../e2e/kit/page-site.js';
import { byHand } from '../e2e/kit/settings.js';
import { seededRandom, until } from '../e2e/kit/until.js';
import { startWorld, type World } from '../e2e/kit/watch.js';
import { between, lasting } from './fault.js';
import { judge } from './judge.js';
import { report, say, type Outcome } from './report.js';

const minutes = Number(process.env['CHAOS_MINUTES']);
const seed = Number(process.env['CHAOS_SEED']);
const wantedKills = Number(process.env['CHAOS_KILLS']);

const name = 'burst';
const taskCount = 4;
/** From the first request of a burst to the kill: before the decision, between attempts, in the middle of one. */
const killWithinMs = 500;
/** Until a message of a burst is under way, on a machine that is busy. */
const arrivalWithinMs = 10_000;
const lookEveryMs = 2;
const sayEvery = 25;
const drainsWithinMs = 240_000;
const underWay = ['pending', 'sending', 'retrying'];

jest.setTimeout((minutes + 15) * 60_000);

const outcomes: Outcome[] = [];

const pathOf = (task: number): string => `/${name}-${task}`;

/** Each with two webhooks and a mail; a receiver that hangs holds an attempt for a second. */
async function createTasks({ api }: Installation, { site, hooks }: World): Promise<string[]> {
  const made = Array.from({ length: taskCount }, async (_, task) => {
    site.serve(pathOf(task), html('in stock'));
    const on = ['triggered'];
    const webhook = { type: 'webhook', on, config: { url: hooks.address(pathOf(task)), timeoutSeconds: 1 } };
    const mail = { type: 'email', on, config: { to: `${name}-${task}@example.com`, subject: 'In stock' } };
    const settings = { ...byHand(site.address(pathOf(task))), actions: [webhook, webhook, mail] };
    return (await api.create(settings)).id;
  });
  return Promise.all(made);
}

/** Most answer; some break off, refuse for now or hang, and of those that are to be caught in the middle most. */
function replyOf(random: () => number, isCaught: boolean): HookReply {
  const chance = random();
  if (isCaught) return chance < 0.75 ? 'hang' : 200;
  if (chance < 0.1) return 'drop';
  if (chance < 0.17) return 503;
  return chance < 0.35 ? 'hang' : 200;
}

/** Asks for runs, of which most notify; a request that the kill cuts off is one that nobody was answered. */
function burst({ api }: Installation, ids: readonly string[], random: () => number): Promise<unknown> {
  const ask = (id: string): Promise<unknown> =>
    api.send(`/api/notifications/${id}/execute`, { method: 'POST', json: { force: random() < 0.7 } });
  return Promise.allSettled(ids.map(ask));
}

/** Resolves when the next webhook comes, or none has in all that time: where every page was sold out. */
async function untilArrival({ hooks }: World): Promise<void> {
  const count = (): number =>
    Array.from({ length: taskCount }, (_, task) => hooks.received(pathOf(task)).length).reduce((a, b) => a + b, 0);
  const before = count();
  const endMs = Date.now() + arrivalWithinMs;
  while (count() === before && Date.now() < endMs) await lasting(lookEveryMs);
}

const openAttempt = z.object({ attempt: z.number(), worker: z.string() });
const lostAttempt = z.object({ attempt: z.number() });

/** Processes that were killed while they sent: those whose attempts were lost. */
function killedInSending(events: readonly RecordedEvent[]): number {
  const placeOf = (stream: string, attempt: number): string => `${stream} ${attempt}`;
  const workers = new Map<string, string>();
  const killed = new Set<string>();
  for (const { type, stream, data } of events) {
    if (type === 'attempt.started') {
      const { attempt, worker } = openAttempt.parse(data);
      workers.set(placeOf(stream, attempt), worker);
    }
    if (type !== 'attempt.lost') continue;
    const worker = workers.get(placeOf(stream, lostAttempt.parse(data).attempt));
    if (worker !== undefined) killed.add(worker);
  }
  return killed.size;
}

/** What waits for its next attempt is sent now: retries are minutes and hours apart. */
async function drained({ api }: Installation, ids: readonly string[]): Promise<void> {
  const isDrained = async (): Promise<boolean> => {
    let left = 0;
    for (const id of ids) {
      for (const { finishedAt } of await api.executions(id)) if (finishedAt === null) left += 1;
      for (const { id: deliveryId, state } of await api.deliveries(id)) {
        if (!underWay.includes(state)) continue;
        left += 1;
        if (state === 'retrying') await api.send(`/api/deliveries/${deliveryId}/resend`, { method: 'POST', json: {} });
      }
    }
    return left === 0;
  };
  await until('nothing is under way', isDrained, drainsWithinMs);
}

describe('an installation that is killed in bursts of deliveries', () => {
  afterAll(() => report(outcomes));

  it('loses none, and repeats them under their id alone', async () => {
    const random = seededRandom(seed);
    const world = await startWorld();
    const installation = await embeddedInstallation({ smtpUrl: world.mails.url });
    try {
      await installation.start();
      const ids = await createTasks(installation, world);
      const happened: Outcome['happened'][number][] = [];
      const untilMs = Date.now() + minutes * 60_000;
      while (happened.length < wantedKills && Date.now() < untilMs) {
        // Half of them in the middle of sending, as far as that can be told from outside.
        const isCaught = random() < 0.5;
        for (let task = 0; task < taskCount; task += 1) {
          // What a kill left over would pile up, round by round.
          world.hooks.recover(pathOf(task));
          world.hooks.reply(pathOf(task), replyOf(random, isCaught));
          world.site.serve(pathOf(task), html(random() < 0.8 ? 'in stock' : 'sold out'));
        }
        const arrival = isCaught ? untilArrival(world) : null;
        const asked = burst(installation, ids, random);
        await (arrival ?? lasting(between(random, 0, killWithinMs)));
        await installation.kill('SIGKILL');
        await asked;
        const downFromMs = Date.now();
        await installation.start();
        happened.push({ name: 'kill -9 in a burst', isKill: true, healedMs: Date.now() - downFromMs });
        if (happened.length % sayEvery === 0) say(`${happened.length} kills`);
      }
      for (let task = 0; task < taskCount; task += 1) world.hooks.recover(pathOf(task));
      const drainFromMs = Date.now();
      await drained(installation, ids);
      const drainMs = Date.now() - drainFromMs;
      await installation.kill('SIGTERM');
      const events = await installation.recordedEvents();
      const readStore = await installation.openReadStore();
      try {
        const load = { name, watched: ids, created: new Map(), asked: new Set<string>(), stop: async () => {} };
        const verdicts = await judge(events, readStore, world, load);
        const lost = events.filter(({ type }) => type === 'attempt.lost').length;
        const arrived = ids.flatMap((_, task) => world.hooks.received(pathOf(task))).length;
        say(
          `${arrived} webhooks and ${world.mails.received.length} mails arrived, ${lost} attempts were lost, ${killedInSending(events)} of the kills hit the middle of sending`,
        );
        outcomes.push({ mode: 'embedded, bursts', seed, events: events.length, happened, drainMs, verdicts });
        expect(verdicts.flatMap(({ violations }) => violations)).toEqual([]);
      } finally {
        await readStore.close();
      }
    } catch (error) {
      say(`the last lines of its process:\n${installation.lines.slice(-40).join('\n')}`);
      throw error;
    } finally {
      await installation.remove();
      await world.close();
    }
  });
});
