/** MQTT: a notification as one message to a topic. */
import type { z } from 'zod';
import { renderTemplate } from '#templates/templates';
import { peerChannel, type BuildContext, type Notification } from '../channel.js';
import { episodeKey } from '../episode.js';
import { eventOf, variablesOf } from '../message.js';
import { peerAt, peerOutgoing, trustOf, type PeerOutgoing } from '../peer.js';
import { bytes, shortened } from '../text-limits.js';
import { textOf } from '../texts.js';
import { classifyMqtt } from './classify.js';
import { mqttDeclaration } from './declaration.js';

const ports = { 'mqtt:': 1_883, 'mqtts:': 8_883 } as const;
const timeoutMs = 15_000;
const limits = { topicBytes: 1_000, textBytes: 65_536 };

/** One level of a topic. */
const level = (text: string): string => text.replace(/[+#/\u0000-\u001f\u007f-\u009f]/g, '_');

/** A test or an error is no state to keep. A digest that left an older state in its place would let the broker tell it for ever. */
function isState({ kind, items = [] }: Notification): boolean {
  const kinds = kind === 'digest' ? items.map((item) => item.kind) : [kind];
  return kinds.some((each) => each === 'triggered' || each === 'recovered');
}

function buildMqtt(
  config: z.output<typeof mqttDeclaration.config>,
  request: Notification,
  { linkBase }: BuildContext,
): PeerOutgoing {
  const { serverUrl, version = '5', username = null, password = null, qos = 1, retain = false } = config;
  const { protocol, host, port } = peerAt(serverUrl, ports);
  const topic = renderTemplate(config.topic, variablesOf(request, linkBase), level).toWellFormed();
  const event = { id: request.deliveryId, episode: episodeKey(request), ...eventOf(request, linkBase) };
  const payload =
    config.text === undefined
      ? JSON.stringify(event)
      : shortened(textOf(request, linkBase, config), limits.textBytes, bytes);
  return peerOutgoing({
    protocol: 'mqtt',
    host,
    port,
    trust: protocol === 'mqtts:' ? trustOf(config) : null,
    version,
    // A second session by the same name would end the first.
    clientId: `meerkat-${request.deliveryId}`,
    username,
    password,
    topic: shortened(topic, limits.topicBytes, bytes).replace(/^\$/, '_'),
    payload,
    qos,
    retain: retain && isState(request),
    timeoutMs,
  });
}

export const mqtt = peerChannel(mqttDeclaration, 'mqtt', buildMqtt, classifyMqtt);
