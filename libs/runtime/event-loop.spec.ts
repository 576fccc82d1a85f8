import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { asWork, registerEventLoopMetrics, watchEventLoop } from './event-loop.js';
import { silentLogger } from './logger.js';

describe('the watch over the event loop', () => {
  const watched = () => {
    const said: { readonly fields: object; readonly line: string }[] = [];
    const watch = watchEventLoop({ ...silentLogger, warn: (fields, line) => void said.push({ fields, line }) });
    return { watch, said };
  };

  it('names the work in progress, the latest first, where the loop was held for half a second', async () => {
    const { watch, said } = watched();
    await asWork({ what: 'run.due', id: 'ntf_1' }, async () =>
      asWork({ what: 'delivery', id: 'dlv_1' }, async () => {
        watch.look(performance.now() + 900);
      }),
    );
    watch.stop();
    expect(said).toEqual([
      {
        fields: { heldMs: expect.any(Number), inProgress: 2, recent: ['delivery dlv_1', 'run.due ntf_1'] },
        line: 'the event loop was held: everything else had to wait',
      },
    ]);
  });

  it('says nothing of less, nor of work that is over', async () => {
    const { watch, said } = watched();
    await asWork({ what: 'delivery', id: 'dlv_1' }, async () => undefined);
    const now = performance.now();
    watch.look(now + 400);
    watch.look(now + 1_200);
    watch.stop();
    expect(said.map(({ fields }) => fields)).toEqual([expect.objectContaining({ inProgress: 0, recent: [] })]);
  });

  it('gives Prometheus the longest time that the loop was held since it asked last', async () => {
    const registry = new Registry();
    registerEventLoopMetrics(registry);
    const { watch } = watched();
    await registry.metrics();
    watch.look(performance.now() + 150);
    const [, max] = /delay_seconds\{quantile="max"\} ([\d.]+)/.exec(await registry.metrics()) ?? [];
    watch.stop();
    expect(Number(max)).toBeGreaterThan(0.1);
    expect(await registry.metrics()).toContain('delay_seconds{quantile="max"} 0\n');
  });
});
