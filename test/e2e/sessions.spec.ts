/** Sessions of signed-in people as their browsers have them, over HTTP, through any gateway: how they go on, and how they end. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { hashSessionToken, pepperOf } from '#contracts/api-key';
import type { RecordedEvent } from '#event-store/event-store';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import { ownerEmail, ownerPassword, type Installation } from './kit/installation.js';
import { signIn } from './kit/people.js';

const hourMs = 3_600_000;
const shown = z.object({ data: z.object({ expiresAt: z.string(), idleExpiresAt: z.string().nullish() }) });
const openedData = z.looseObject({ id: z.string() });

let installation: Installation;

/** How many gateways there may be: each is asked. */
const doors = [0, 1];
const ask = (token: string, path = '/api/sessions/current', more: object = {}): Promise<Reply> =>
  installation.api.send(path, {
    key: null,
    headers: { cookie: `meerkat_session=${token}`, origin: installation.url },
    ...more,
  });
const told = (reply: Reply): readonly [number, string] => [reply.status, errorOf(reply).reason];
const newTokenOf = ({ headers }: Reply): string | null =>
  /^meerkat_session=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? null;

/** What a session was as some time ago: opened, used last, ended. */
interface Past {
  readonly openedAgoMs: number;
  readonly endsInMs: number;
  readonly idleEndsInMs: number;
  /** Another took its place, and this one ends then. */
  readonly supersededEndsInMs?: number;
}
const weekMs = 7 * 24 * hourMs;
const used: Past = { openedAgoMs: 2 * hourMs, endsInMs: weekMs - 2 * hourMs, idleEndsInMs: 22 * hourMs };
const past = {
  aged: used,
  concurrent: used,
  closedByTheFirst: used,
  closedByTheNext: used,
  idle: { openedAgoMs: 25 * hourMs, endsInMs: weekMs - 25 * hourMs, idleEndsInMs: -hourMs },
  weekOld: { openedAgoMs: hourMs / 2, endsInMs: -1, idleEndsInMs: -1 },
  superseded: { ...used, supersededEndsInMs: -1 },
  lately: { ...used, supersededEndsInMs: hourMs },
} satisfies Readonly<Record<string, Past>>;
type Name = keyof typeof past;
const tokens = Object.fromEntries(
  Object.keys(past).map((name) => [name, randomBytes(32).toString('base64url')]),
) as Readonly<Record<Name, string>>;

/** The events that an earlier time would have recorded of them. */
function playedSessions(model: RecordedEvent, pepper: Uint8Array): readonly RecordedEvent[] {
  const now = Date.now();
  const at = (inMs: number): string => new Date(now + inMs).toISOString();
  return Object.entries<Past>(past).flatMap(([name, { openedAgoMs, endsInMs, idleEndsInMs, supersededEndsInMs }]) => {
    const id = hashSessionToken(tokens[name as Name], pepper);
    const metadata = { ...model.metadata, at: at(-openedAgoMs) };
    const stream = `session-${id}`;
    const data = { ...model.data, id, expiresAt: at(endsInMs), idleExpiresAt: at(idleEndsInMs) };
    const opened = { ...model, id: crypto.randomUUID(), stream, data, metadata };
    if (supersededEndsInMs === undefined) return [opened];
    const successorId = hashSessionToken(randomBytes(32).toString('base64url'), pepper);
    const of = { id: crypto.randomUUID(), stream: `session-${successorId}`, data: { ...data, id: successorId } };
    const superseded = { id, successorId, endsAt: at(supersededEndsInMs) };
    const type = 'session.superseded';
    return [
      opened,
      { ...opened, ...of },
      { ...opened, id: crypto.randomUUID(), type, version: 1, revision: 1, data: superseded },
    ];
  });
}

beforeAll(async () => {
  installation = await createInstallation({ settings: { ANONYMOUS_PER_MINUTE: '100000' } });
  await installation.start();
  await signIn(installation);
  await installation.kill('SIGTERM');
  const model = (await installation.recordedEvents()).find(({ type }) => type === 'session.opened');
  if (model === undefined) throw new Error('nobody has signed in');
  openedData.parse(model.data);
  await installation.appendEvents(playedSessions(model, pepperOf(await installation.secretKey())));
  await installation.start();
});
afterAll(() => installation.remove());

describe('a session over HTTP', () => {
  it('ends after a day without use, and after a week with it, at every gateway', async () => {
    for (const name of ['idle', 'weekOld'] as const) {
      for (const _ of doors) {
        expect([name, ...told(await ask(tokens[name]))]).toEqual([name, 401, 'session_ended']);
        const stream = await ask(tokens[name], '/api/stream');
        expect([name, ...told(stream)]).toEqual([name, 401, 'session_ended']);
        const written = await ask(tokens[name], '/api/notifications', { json: {} });
        expect([name, ...told(written)]).toEqual([name, 401, 'session_ended']);
      }
    }
  });

  it('goes on under another token after an hour of use, and ends when it would have ended', async () => {
    const { expiresAt } = shown.parse((await ask(tokens.aged)).body).data;
    const reply = await ask(tokens.aged, '/api/notifications');
    expect(reply.status).toBe(200);
    const next = newTokenOf(reply);
    expect(next).toMatch(/^[\w-]{43}$/);
    expect(next).not.toBe(tokens.aged);
    const cookie = reply.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(Number(/Max-Age=(\d+)/.exec(cookie)?.[1]) * 1_000).toBeLessThanOrEqual(past.aged.endsInMs);
    for (const _ of doors) {
      const later = await ask(next ?? '', '/api/notifications');
      expect([later.status, newTokenOf(later)]).toEqual([200, null]);
      expect(shown.parse((await ask(next ?? '')).body).data.expiresAt).toBe(expiresAt);
      // What was under way with the token before is answered too, and gets no third one.
      const before = await ask(tokens.aged, '/api/notifications');
      expect([before.status, newTokenOf(before)]).toEqual([200, null]);
    }
  });

  it('has one successor, however many requests come at once through whatever gateway', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask(tokens.concurrent, '/api/notifications')));
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(replies.map(newTokenOf).filter((token) => token !== null)).toHaveLength(1);
  });

  it('is good for a minute under the token before, and no longer', async () => {
    expect((await ask(tokens.lately)).status).toBe(200);
    for (const _ of doors) expect(told(await ask(tokens.superseded))).toEqual([401, 'session_ended']);
  });

  it.each(['closedByTheFirst', 'closedByTheNext'] as const)('ends whole by any of its tokens: %s', async (name) => {
    const next = newTokenOf(await ask(tokens[name], '/api/notifications')) ?? '';
    expect(next).not.toBe('');
    const closing = name === 'closedByTheFirst' ? tokens[name] : next;
    const out = await ask(closing, '/api/sessions/current', { method: 'DELETE' });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      200,
      expect.stringMatching(/^meerkat_session=; Max-Age=0;/),
    ]);
    for (const token of [tokens[name], next, next, tokens[name]]) {
      expect(told(await ask(token))).toEqual([401, 'session_ended']);
      expect(told(await ask(token, '/api/notifications'))).toEqual([401, 'session_ended']);
    }
  });

  it('begins under a token of its own, whatever the browser was given before', async () => {
    const planted = randomBytes(32).toString('base64url');
    const headers = { cookie: `meerkat_session=${planted}`, origin: installation.url };
    const json = { email: ownerEmail, password: ownerPassword };
    const opened = await installation.api.send('/api/sessions', { json, key: null, headers });
    expect(opened.status).toBe(201);
    expect(newTokenOf(opened)).not.toBe(planted);
    expect(opened.text).not.toContain(newTokenOf(opened) ?? planted);
    for (const _ of doors) expect(told(await ask(planted))).toEqual([401, 'session_ended']);
    // Nor does the way in through another site's form.
    const foreign = await installation.api.send('/api/sessions', {
      json,
      key: null,
      headers: { origin: 'https://evil.example' },
    });
    expect([told(foreign), newTokenOf(foreign)]).toEqual([[403, 'foreign_origin'], null]);
  });

  it('is nowhere kept as its token', async () => {
    const { cookie } = await signIn(installation);
    const token = cookie.slice(cookie.indexOf('=') + 1);
    const stored = await installation.stored();
    expect(stored.filter(({ bytes }) => bytes.includes(token)).map(({ name }) => name)).toEqual([]);
    expect(installation.lines.filter((line) => line.includes(token))).toEqual([]);
  });
});
