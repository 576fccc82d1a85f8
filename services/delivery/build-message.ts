/** Has a channel build a message. Drawing its chart takes longer than all else: it is drawn where the channel shows it, and once a run. */
import type { BuildContext, Channel, OpenNotification } from '#channels/channel';
import { channels } from '#channels/channels';
import type { ActionType } from '#channels/declarations';
import { createLru } from '#concurrency/lru';
import { chartPng, type ChartPoint } from './chart.js';

/** What the message shows, less what is drawn from its values. */
export type MessageContext = Omit<BuildContext, 'chart'>;

/** Of the runs whose messages are being built. */
const keptCharts = 64;
const charts = createLru<string, Uint8Array>(keptCharts);

function chartOf(points: readonly ChartPoint[] | undefined): Uint8Array | null {
  const key = JSON.stringify(points ?? []);
  const known = charts.get(key);
  if (known !== undefined) return known;
  const drawn = chartPng(points);
  if (drawn !== null) charts.set(key, drawn);
  return drawn;
}

export function buildMessage(
  type: ActionType,
  notification: OpenNotification,
  context: MessageContext,
): ReturnType<Channel['build']> {
  return channels[type].build(notification, {
    ...context,
    get chart() {
      return chartOf(notification.request.context.points);
    },
  });
}
