import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requests } from '#contracts/catalogue';
import { backtestQuery, type BacktestQuery } from '#contracts/run';
import { asJson } from '#runtime/json';
import { errorOf, type GatewayKit, idOf, member, refused } from './gateway.kit.js';
import { openGateway, type OpenedGateway } from './opened-gateway.kit.js';

let opened: OpenedGateway;
let gateway: GatewayKit;
const asked: BacktestQuery[] = [];
const summary = { snapshots: 0, wouldNotify: 0, didNotify: 0, onlyNew: 0, onlyOld: 0, complete: true };

beforeAll(async () => {
  opened = await openGateway();
  ({ gateway } = opened);
  await opened.stores.bus.respond(requests.runBacktest, async (payload) => {
    asked.push(backtestQuery.parse(payload));
    return asJson({ snapshots: [], summary });
  });
});

afterAll(() => opened.close());

const made = async (): Promise<string> => `/api/notifications/${idOf(await opened.create())}`;

describe('a backtest over HTTP', () => {
  it('is asked with the settings of the task where the body gives none', async () => {
    const path = await made();
    const reply = await gateway.send('POST', `${path}/backtest`);
    expect(reply.status).toBe(200);
    expect(member(reply.body, 'data', 'summary')).toEqual(summary);
    expect(asked.at(-1)).toMatchObject({
      limit: 500,
      from: null,
      to: null,
      candidate: { policy: { confirmations: 1 } },
    });
    const body = { evaluationFunction: '() => true', policy: { confirmations: 3 }, limit: 7 };
    expect((await gateway.send('POST', `${path}/backtest`, { body })).status).toBe(200);
    expect(asked.at(-1)).toMatchObject({
      limit: 7,
      candidate: { evaluationFunction: '() => true', codeForm: 'body', policy: { confirmations: 3 } },
    });
  });

  it.each([
    [{ evaluationFunction: 'syntax(' }, 'syntax_error'],
    [{ evaluationFunction: '' }, 'evaluation_function_required'],
    [{ limit: 0 }, 'limit_too_small'],
    [{ limit: 1e9 }, 'limit_too_large'],
    [{ from: 'yesterday' }, 'from_invalid'],
    [{ from: '2026-11-22T00:00:00Z', to: '2026-11-21T00:00:00Z' }, 'to_invalid'],
    [{ policy: { dependsOn: ['ntf_00000000000000000000000009'] } }, 'dependency_not_found'],
    [{ policy: { reminderSeconds: 5, notifyOn: 'changed' } }, 'reminder_seconds_invalid'],
    [{ colour: 'x' }, 'unknown_field'],
  ])('refuses %j with %s', async (body, reason) => {
    const before = asked.length;
    const reply = await gateway.send('POST', `${await made()}/backtest`, { body });
    expect(errorOf(reply)).toEqual(refused(400, 'VALIDATION_ERROR', reason));
    expect(asked).toHaveLength(before);
  });
});

describe('an explanation over HTTP', () => {
  it('is 404 for an unknown task and 400 for a time that is none', async () => {
    expect((await gateway.send('GET', '/api/notifications/ntf_00000000000000000000000009/explain')).status).toBe(404);
    const path = await made();
    for (const query of ['at=yesterday', 'at=2026-02-30T00:00:00Z', 'when=now']) {
      expect((await gateway.send('GET', `${path}/explain?${query}`)).status).toBe(400);
    }
  });
});
