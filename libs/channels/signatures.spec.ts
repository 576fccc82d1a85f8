/** Signatures that are of the time: made anew at each attempt, and as the vendors document them. */
import { describe, expect, it } from '@jest/globals';
import type { HttpOutgoing } from './channel.js';
import type { ActionType } from './declarations.js';
import { requestsOf, settingsOf } from './every-channel.kit.js';
import { kitTimeMs } from './notification.kit.js';

describe('a signature', () => {
  it.each<[ActionType, (request: HttpOutgoing) => unknown]>([
    ['feishu', ({ body }) => /"sign":"([^"]+)"/.exec(body ?? '')?.[1]],
    ['dingtalk', ({ url }) => new URL(url).searchParams.get('sign')],
    ['aws_sns', ({ headers }) => headers['authorization']],
  ])('of %s is made anew at each attempt, and of what is sent then', (type, signatureOf) => {
    const [settings] = settingsOf(type).filter(
      ({ config }) => config['signingSecret'] !== undefined || config['secretAccessKey'] !== undefined,
    );
    if (settings === undefined) throw new Error('no settings with a signature');
    const at = (nowMs: number) => requestsOf(type, settings, {}, { nowMs }).map(signatureOf);
    expect(at(kitTimeMs)[0]).toMatch(/./);
    expect(at(kitTimeMs)).toEqual(at(kitTimeMs));
    expect(at(kitTimeMs + 86_400_000)).not.toEqual(at(kitTimeMs));
  });

  it('of feishu and dingtalk is that of a known example: key and message are the other way round', () => {
    const feishu = requestsOf(
      'feishu',
      {
        config: { webhookUrl: 'https://open.feishu.cn/open-apis/bot/v2/hook/0a', signingSecret: 'demo' },
        opened: null,
      },
      {},
      { nowMs: 1_599_360_473_000 },
    );
    expect(JSON.parse(feishu[0]?.body ?? '')).toMatchObject({
      timestamp: '1599360473',
      sign: 'l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8=',
    });
    const dingtalk = requestsOf(
      'dingtalk',
      {
        config: {
          webhookUrl: `https://oapi.dingtalk.com/robot/send?access_token=${'0a'.repeat(32)}`,
          signingSecret: 'SECdemo0000000000000000000000000',
        },
        opened: null,
      },
      {},
      { nowMs: 1_577_262_236_757 },
    );
    const { searchParams } = new URL(dingtalk[0]?.url ?? '');
    expect([searchParams.get('timestamp'), searchParams.get('sign')]).toEqual([
      '1577262236757',
      'shJ8RPpJClhEaD7viWZiLPVYF6VeP0K9dsjkp00cGsM=',
    ]);
  });
});
