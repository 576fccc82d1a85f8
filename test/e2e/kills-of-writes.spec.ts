/** The product killed in the middle of a write that is more than one event: what was asked is there whole, or not at all. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';
import { momentsLater, seededRandom, until } from './kit/until.js';

const listed = z.object({
  data: z.array(z.looseObject({ externalKey: z.string().nullable(), name: z.string(), status: z.string() })),
  pagination: z.object({ total: z.int() }),
});
const planned = z.object({
  data: z.object({ create: z.array(z.unknown()), update: z.array(z.unknown()), archive: z.array(z.unknown()) }),
});
const taskOf = z.object({ data: z.looseObject({ evaluationFunction: z.string(), revision: z.int() }) });
const historyOf = z.object({ data: z.array(z.looseObject({ type: z.string(), requestId: z.string() })) });

const random = seededRandom(20_261_125);
let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.start();
});
afterAll(() => installation.remove());

const killAndStart = async (): Promise<void> => {
  expect(await installation.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
  await installation.start();
};

describe('a configuration file that is killed in the middle of being applied', () => {
  const count = 400;
  const entry = (index: number, name: string) => ({
    externalKey: `task-${index}`,
    name,
    url: 'https://shop.example/kettle',
    evaluationFunction: 'return false',
    schedule: { type: 'manual' },
  });
  const fileOf = (name: string, from = 0) => ({
    version: 1,
    notifications: Array.from({ length: count }, (_, index) => entry(from + index, name)),
  });
  const apply = (file: object, query = '') =>
    installation.api.send(`/api/apply${query}`, { method: 'PUT', json: file });
  const countOf = async (name: string): Promise<number> =>
    listed.parse((await installation.api.send(`/api/notifications?q=${name}&limit=1`)).body).pagination.total;

  /** The file is asked for, and everything killed once some of it is there. */
  const killedInTheMiddle = async (file: object, query: string, isBegun: () => Promise<boolean>): Promise<void> => {
    const asked = apply(file, query).then(
      ({ status }) => status,
      () => null,
    );
    await until('some of it is there', isBegun);
    await installation.kill('SIGKILL');
    expect(await asked).toBeNull();
    await installation.start();
  };

  const expectDone = async (file: object, query = ''): Promise<void> => {
    const { data } = planned.parse((await apply(file, `?dryRun=true${query}`)).body);
    expect([data.create.length, data.update.length, data.archive.length]).toEqual([0, 0, 0]);
  };

  it('is there whole after the next start, each task once', async () => {
    const file = fileOf('First');
    await killedInTheMiddle(file, '', async () => (await countOf('First')) > 0);
    await until('all of it is there', async () => (await countOf('First')) === count);
    await expectDone(file);
  });

  it('changes and archives whole after the next start', async () => {
    const file = fileOf('Second', count / 2);
    await killedInTheMiddle(file, '?archiveMissing=true', async () => (await countOf('Second')) > 0);
    await until('all of it is there', async () => (await countOf('Second')) === count);
    await until('what it does not name is archived', async () => (await countOf('First')) === 0);
    await expectDone(file, '&archiveMissing=true');
  });

  it('is finished before the same organisation applies another', async () => {
    const [before, after] = [fileOf('Third', count / 2), fileOf('Fourth', count / 2)];
    await killedInTheMiddle(before, '', async () => (await countOf('Third')) > 0);
    expect((await apply(after)).status).toBe(200);
    expect(await countOf('Fourth')).toBe(count);
    await expectDone(after);
  });
});

describe('a task whose change is killed in the middle', () => {
  const [live, candidate] = ["return 'live' === '';", "return 'candidate' === '';"];
  const moments = Array.from({ length: 4 }, (_, index) => Math.floor((index + random()) * 4));

  const created = async (): Promise<string> => {
    const { id } = await installation.api.create({
      name: 'Killed',
      url: 'https://shop.example/kettle',
      evaluationFunction: live,
      schedule: { type: 'manual' },
    });
    return `/api/notifications/${id}`;
  };
  const taskAt = async (path: string) => taskOf.parse((await installation.api.send(path)).body).data;
  const typesOf = async (path: string): Promise<readonly string[]> =>
    historyOf.parse((await installation.api.send(`${path}/history`)).body).data.map(({ type }) => type);

  it.each(moments)('is promoted whole or not at all, %i ms after it was asked for', async (delayMs) => {
    const path = await created();
    await installation.api.send(`${path}/shadow`, { method: 'PUT', json: { evaluationFunction: candidate } });
    const asked = installation.api.send(`${path}/shadow/promote`, { method: 'POST' }).catch(() => null);
    await momentsLater(delayMs);
    await killAndStart();
    await asked;
    const isPromoted = (await taskAt(path)).evaluationFunction === candidate;
    expect((await installation.api.send(`${path}/shadow`)).status).toBe(isPromoted ? 404 : 200);
    expect((await installation.api.send(`${path}/shadow/promote`, { method: 'POST' })).status).toBe(
      isPromoted ? 404 : 200,
    );
    expect((await taskAt(path)).evaluationFunction).toBe(candidate);
    expect(await typesOf(path)).toEqual(['task.shadow_ended', 'task.changed', 'task.shadow_started', 'task.created']);
  });

  it.each(moments)('is rolled back whole or not at all, %i ms after it was asked for', async (delayMs) => {
    const path = await created();
    const changed = { evaluationFunction: candidate, status: 'paused', name: 'Changed' };
    await installation.api.send(path, { method: 'PATCH', json: changed });
    const asked = installation.api.send(`${path}/rollback`, { method: 'POST', json: { revision: 0 } });
    const answered = asked.catch(() => null);
    await momentsLater(delayMs);
    await killAndStart();
    await answered;
    const { evaluationFunction, name, status } = await taskAt(path);
    const isBack = evaluationFunction === live;
    expect({ evaluationFunction, name, status }).toEqual(
      isBack ? { evaluationFunction: live, name: 'Killed', status: 'active' } : changed,
    );
    const { status: again } = await installation.api.send(`${path}/rollback`, {
      method: 'POST',
      json: { revision: 0 },
    });
    expect([again, (await taskAt(path)).evaluationFunction]).toEqual([200, live]);
  });
});
