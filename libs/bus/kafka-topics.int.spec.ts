/** Needs a Kafka broker: BUS_URL (see `npm run servers`). */
import { afterAll, describe, expect, it } from '@jest/globals';
import { dropInstallation, ownInstallation } from './kafka.kit.js';
import { createTopics } from './kafka-topics.js';

describe('the topics of a bus on Kafka', () => {
  const connection = ownInstallation(process.env['BUS_URL']);
  afterAll(() => dropInstallation(connection));

  // A consumer whose partition has no leader is lost, and its topics are made sure of anew: just then readiness asks for them.
  it('are asked for their health also while they are made sure of anew', async () => {
    const topics = createTopics(connection);
    const topic = topics.messages('orders');
    await topics.ensure(topic);
    topics.forget(topic);
    expect(topics.ensured()).toEqual([`${connection.installation}.orders`]);
  });
});
