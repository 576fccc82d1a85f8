import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError, reject } from '#runtime/errors';
import type { Json, JsonObject } from '#runtime/json';
import { silentLogger } from '#runtime/logger';
import type { OpenedBus } from './bus.js';
import { sealRequests } from './sealed-requests.js';
import { createSqliteBus } from './sqlite.js';

const context = { organizationId: 'org_1', actor: 'key:key_1', requestId: 'req_1' };

describe('sealed requests', () => {
  let carrier: OpenedBus;
  const carried: Json[] = [];
  beforeEach(() => {
    const bus = createSqliteBus(':memory:', silentLogger);
    carried.length = 0;
    carrier = {
      ...bus,
      async request(name: string, payload: JsonObject, who, deadlineMs) {
        carried.push(payload);
        const answer = await bus.request(name, payload, who, deadlineMs);
        carried.push(answer);
        return answer;
      },
    };
  });
  afterEach(() => carrier.close());

  const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

  it('reach their responder and are answered, with nothing in clear on the way', async () => {
    const bus = sealRequests(carrier, key(1));
    await bus.respond('open', async ({ password = null }) => ({ token: ['token for', password] }));
    expect(await bus.request('open', { password: 'hunter2' }, context)).toEqual({ token: ['token for', 'hunter2'] });
    expect(carried).toHaveLength(2);
    expect(JSON.stringify(carried)).not.toMatch(/hunter2|token/);
  });

  it('pass on the responder’s refusal as it is', async () => {
    const bus = sealRequests(carrier, key(1));
    await bus.respond('open', async () => {
      throw reject('no_such_thing', 'There is none.');
    });
    await expect(bus.request('open', {}, context)).rejects.toMatchObject({ reason: 'no_such_thing' });
  });

  it('are refused by a process with another key', async () => {
    await sealRequests(carrier, key(1)).respond('open', async () => null);
    const asked = sealRequests(carrier, key(2)).request('open', {}, context);
    await expect(asked).rejects.toMatchObject({ code: 'SERVER_ERROR', reason: 'secret_key_differs' });
  });

  it('are not taken in clear, nor when sealed for another request', async () => {
    const bus = sealRequests(carrier, key(1));
    await bus.respond('open', async () => null);
    await bus.respond('close', async () => null);
    await expect(carrier.request('open', { password: 'x' }, context)).rejects.toBeInstanceOf(AppError);
    await bus.request('open', {}, context);
    const [sealed] = carried.filter((one) => one !== null);
    await expect(carrier.request('close', sealed as JsonObject, context)).rejects.toBeInstanceOf(AppError);
  });
});
