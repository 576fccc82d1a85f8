import { describe, expect, it } from '@jest/globals';
import { channels } from '#channels/channels';
import { settingsOf } from '#channels/every-channel.kit';
import { aNotification, kitTimeMs } from '#channels/notification.kit';
import type { ActionType } from '#channels/declarations';
import { buildMessage } from './build-message.js';
import { chartPng, type ChartPoint } from './chart.js';

const context = {
  nowMs: kitTimeMs,
  linkBase: 'https://meerkat.example',
  mailFrom: 'Meerkat <watch@example.com>',
  opened: null,
  receipts: [],
};
const points = [
  { at: '2026-01-01T00:00:00.000Z', value: 1 },
  { at: '2026-01-02T00:00:00.000Z', value: 2 },
];

/** What is built of it, and how often its points were read as if to draw them. */
function built(type: ActionType): { message: unknown; drawn: number } {
  let drawn = 0;
  const values: readonly ChartPoint[] = points.map((point) => ({
    ...point,
    get value() {
      drawn += 1;
      return point.value;
    },
  }));
  const [settings] = settingsOf(type);
  if (settings === undefined) throw new Error(`${type} has no settings`);
  const request = aNotification();
  const notification = { request: { ...request, context: { ...request.context, points: [...values] } }, ...settings };
  return { message: buildMessage(type, notification, context), drawn };
}

describe('a message that is built', () => {
  it('has the chart of its values where its channel shows one', () => {
    const [settings] = settingsOf('telegram');
    if (settings === undefined) throw new Error('telegram has no settings');
    const request = aNotification();
    const notification = { request: { ...request, context: { ...request.context, points } }, ...settings };
    const alone = channels.telegram.build(notification, { ...context, chart: chartPng(points) });
    expect(buildMessage('telegram', notification, context)).toEqual(alone);
  });

  it('costs no chart where its channel shows none', () => {
    expect(built('pagerduty').drawn).toBe(0);
    expect(built('telegram').drawn).toBeGreaterThan(0);
  });
});
