import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSqliteBus } from '#bus/sqlite';
import type { BusMessage, OpenedBus } from '#bus/bus';
import type { TaskDocument } from '#contracts/task';
import { runStream } from '#contracts/run';
import { found } from '#runtime/probe.kit';
import { createDocumentState } from '#shared-state/document-state';
import { silentLogger } from '#runtime/logger';
import { createQuickJsSandbox } from '#sandbox/quickjs';
import { closeRunDeps, document, due, metadata, page, runDeps, saveTasks, scriptedOutbound } from './run.kit.js';
import type { RunDeps } from './run.js';
import { createExecutionService } from './service.js';
import { createTestRuns } from './test-task.js';
import { keepingAll } from './retention/retention.kit.js';

const slots = 8;
const slowTasks = 24;
const taskIdOf = (n: number): string => `ntf_${String(n).padStart(26, '0')}`;

function taskOf(n: number, url: string): TaskDocument {
  const task = document({ url, fetch: { retry: { attempts: 1 } } });
  return { ...task, id: taskIdOf(n), url };
}

describe('a site that answers nothing', () => {
  const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
  let deps: RunDeps;
  let bus: OpenedBus;
  let silence: PromiseWithResolvers<void>;
  let waitingLoads: number;

  beforeEach(async () => {
    silence = Promise.withResolvers();
    waitingLoads = 0;
    const outbound = scriptedOutbound(async ({ url }) => {
      if (url.startsWith('https://slow.example')) {
        waitingLoads += 1;
        await silence.promise;
      }
      return page('<p id="p">yes</p>');
    });
    deps = runDeps(sandbox, outbound, slots);
    bus = createSqliteBus(':memory:', silentLogger);
    const slow = Array.from({ length: slowTasks }, (_, n) => taskOf(n, 'https://slow.example/'));
    const others = [100, 101, 102].map((n) => taskOf(n, `https://other-${n}.example/`));
    await saveTasks(deps, [...slow, ...others]);
  });
  afterEach(async () => {
    silence.resolve();
    await bus.close();
    await closeRunDeps(deps);
  });
  afterAll(() => sandbox.close());

  const dueMessage = (n: number): BusMessage => {
    const run = { ...due(n), taskId: taskIdOf(n), trigger: 'manual' as const };
    return { id: `due-${n}`, type: 'run.due', key: run.taskId, data: { run }, metadata };
  };
  const results = async (n: number): Promise<number> =>
    (await Array.fromAsync(deps.eventStore.read(runStream(taskIdOf(n))))).length;

  const consume = async (): Promise<{ stop(): Promise<void> }> => {
    const sharedState = createDocumentState(deps.readStore);
    const [consumer] =
      createExecutionService({ ...deps, bus, sharedState }, createTestRuns(deps), keepingAll).consumers ?? [];
    if (consumer === undefined) throw new Error('the service consumes nothing');
    return bus.consume(consumer, consumer.handle);
  };

  it('holds no slot while it answers nothing, and delays no other site', async () => {
    await consume();
    await bus.publish(
      'schedule',
      Array.from({ length: slowTasks }, (_, n) => dueMessage(n)),
    );
    await found(async () => waitingLoads === 4);
    await bus.publish('schedule', [100, 101, 102].map(dueMessage));
    await found(async () => (await Promise.all([100, 101, 102].map(results))).every((count) => count === 1));
    expect(deps.slots.held).toBe(0);
    expect(waitingLoads).toBe(4);
  });

  it('does not keep a process from stopping: runs in its line are handed over again', async () => {
    const consumer = await consume();
    await bus.publish(
      'schedule',
      Array.from({ length: slowTasks }, (_, n) => dueMessage(n)),
    );
    await found(async () => waitingLoads === 4);
    const stopped = consumer.stop();
    silence.resolve();
    await stopped;
    const recorded = async () => Promise.all(Array.from({ length: slowTasks }, (_, n) => results(n)));
    expect((await recorded()).filter((count) => count > 0)).toHaveLength(4);
    await consume();
    await found(async () => (await recorded()).every((count) => count === 1));
  });
});
