/** The guide for users: its examples are taken as they stand, and its table names every field. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { schedule } from '#contracts/schedule';
import { member, type GatewayKit } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

const guide = readFileSync(new URL('../../docs/guide/schedules.md', import.meta.url), 'utf8');
const examples = [...guide.matchAll(/```json schedule\n([\s\S]*?)```/g)].map(([, json = '']) => json);

describe('the guide of schedules', () => {
  let opened: OpenedGateway;
  let gateway: GatewayKit;
  beforeAll(async () => {
    opened = await openGateway();
    ({ gateway } = opened);
  });
  afterAll(() => opened.close());

  it.each(examples)('has an example that can be previewed and saved: %s', async (json) => {
    const body = JSON.parse(json) as object;
    const preview = await gateway.send('POST', '/api/schedules/preview?count=3', { body });
    expect({ status: preview.status, runs: member(preview.body, 'data', 'runs') }).toMatchObject({
      status: 200,
      runs: expect.arrayContaining([expect.stringMatching(/Z$/)]),
    });
    expect((await opened.create({ schedule: body })).status).toBe(201);
  });

  it('names every type and every field', () => {
    expect(examples.length).toBeGreaterThan(3);
    for (const { shape } of schedule.options) {
      for (const name of [...Object.keys(shape), shape.type.value]) {
        if (name !== 'type') expect(guide).toContain(`\`${name}\``);
      }
    }
  });
});
