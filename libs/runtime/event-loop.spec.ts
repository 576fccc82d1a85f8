import { describe, expect, it } from '@jest/globals';
import { asWork, takeEventLoopDelay, watchEventLoop } from './event-loop.js';
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

  it('gives the longest time that the loop was held since it was asked last', () => {
    takeEventLoopDelay();
    const { watch } = watched();
    watch.look(performance.now() + 150);
    watch.stop();
    expect(takeEventLoopDelay().max).toBeGreaterThan(0.1);
    expect(takeEventLoopDelay().max).toBe(0);
  });
});
