/** Traps in what is sent, that are common to many services, one by one, held against every channel that there is. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { HttpOutgoing } from './channel.js';
import { channels } from './channels.js';
import { declarationOf, declarations, type ActionType } from './declarations.js';
import { hostileText } from './dialects.kit.js';
import {
  answerOf,
  httpTypes,
  made,
  requestsOf,
  sentText,
  settingsOf,
  types,
  vendorTypes,
  verdictsOn,
} from './every-channel.kit.js';
import { aDigest, aNotification, kitTimeMs } from './notification.kit.js';
import { httpSummary, isToken } from './summary.js';

const readme = (type: ActionType): string => readFileSync(new URL(`./${type}/README.md`, import.meta.url), 'utf8');
const kinds = ['triggered', 'recovered', 'error', 'test', 'digest'] as const;
const ofKind = (kind: (typeof kinds)[number], options: Omit<Parameters<typeof aNotification>[0], 'kind'> = {}) =>
  kind === 'digest' ? aDigest(options) : aNotification({ ...options, kind });
const said = (text: string) => {
  const { context } = aNotification();
  return {
    ...context,
    message: text,
    execution: { ...context.execution, values: { value: text, [text.slice(0, 40)]: text } },
  };
};

describe('a repeat', () => {
  it.each(vendorTypes)('is never made at once by %s where the receiver has refused it', (type) => {
    for (const status of [401, 403]) {
      for (const verdict of verdictsOn(type, answerOf(status))) expect(verdict.state).toBe('refused');
    }
    for (const verdict of verdictsOn(type, answerOf(429))) {
      expect(verdict.state === 'retry' ? verdict.retryAfterMs : 0).toBeGreaterThanOrEqual(30_000);
    }
  });

  it.each(httpTypes)('by %s of what was refused opens no breaker: others use the same host', (type) => {
    for (const status of [400, 401, 403, 404, 410, 429]) {
      for (const verdict of verdictsOn(type, answerOf(status))) expect(verdict.unreachable).toBe(false);
    }
  });

  /** Where the receiver would see that it has it already. */
  const marks: readonly [ActionType, (request: HttpOutgoing) => string | undefined][] = [
    ['matrix', ({ url }) => url.split('/').at(-1)],
    ['line', ({ headers }) => headers['x-line-retry-key']],
    ['pagerduty', ({ body }) => /"dedup_key":"([^"]+)"/.exec(body ?? '')?.[1]],
    ['opsgenie', ({ body }) => /"alias":"([^"]+)"/.exec(body ?? '')?.[1]],
    ['incident_io', ({ body }) => /"deduplication_key":"([^"]+)"/.exec(body ?? '')?.[1]],
    ['splunk_oncall', ({ body }) => /"entity_id":"([^"]+)"/.exec(body ?? '')?.[1]],
    ['grafana_oncall', ({ body }) => /"alert_uid":"([^"]+)"/.exec(body ?? '')?.[1]],
    ['pushbullet', ({ body }) => /"guid":"([^"]+)"/.exec(body ?? '')?.[1]],
    ['googlechat', ({ url }) => new URL(url).searchParams.get('requestId') ?? undefined],
    ['webhook', ({ headers }) => headers['webhook-id']],
    ['ntfy', ({ body }) => /"sequence_id":"([^"]+)"/.exec(body ?? '')?.[1]],
  ];
  it.each(marks)('after a try without an answer is recognized by %s', (type, markOf) => {
    for (const settings of settingsOf(type)) {
      const marksAt = (nowMs: number) => requestsOf(type, settings, {}, { nowMs }).map(markOf);
      expect(marksAt(kitTimeMs)[0]).toMatch(/./);
      expect(marksAt(kitTimeMs + 7_200_000)).toEqual(marksAt(kitTimeMs));
    }
  });

  it.each<ActionType>(['jira', 'github_issue'])('of %s looks for what an earlier try has made', (type) => {
    for (const { config } of settingsOf(type)) {
      const [create] = requestsOf(type, { config, opened: null });
      expect(create?.unless?.step).toBe('search');
    }
  });

  it.each<ActionType>(['twilio_sms', 'vonage_sms'])(
    'of %s, which costs, comes late where it may have arrived',
    (type) => {
      const channel = channels[type];
      const lost = { ok: false, reason: 'timed_out', message: 'No answer.', sent: true, durationMs: 1 } as const;
      if (channel.transport !== 'http') throw new Error('no HTTP');
      expect(channel.classify(lost, kitTimeMs)).toMatchObject({ state: 'retry', retryAfterMs: 600_000 });
      expect(channel.classify({ ...lost, sent: false }, kitTimeMs)).toMatchObject({ retryAfterMs: null });
    },
  );
});

describe('what is over', () => {
  const closers: readonly ActionType[] = [
    'pagerduty',
    'opsgenie',
    'splunk_oncall',
    'grafana_oncall',
    'incident_io',
    'googlechat',
    'homeassistant',
  ];
  const keysIn = (outgoing: ReturnType<typeof made>): readonly string[] =>
    [...sentText(outgoing).matchAll(/meerkat(?:\/|%2F)[\w/%:.-]+|meerkat-[0-9a-f]{24}/g)].map(([key]) =>
      decodeURIComponent(key).replace(/\/close$/, ''),
    );

  it.each(closers)('has at %s the key of what it ends, and no other episode or action has it', (type) => {
    for (const settings of settingsOf(type).filter(({ config }) => config['threaded'] !== false)) {
      const keyOf = (options: Parameters<typeof aNotification>[0]) =>
        keysIn(made(type, settings, aNotification(options)))[0];
      const key = keyOf({ kind: 'triggered' });
      expect(key).toMatch(/meerkat/);
      expect(keyOf({ kind: 'recovered', name: 'two' })).toBe(key);
      expect(keyOf({ episode: 'condition:2' })).not.toBe(key);
      expect(keyOf({ episode: 'health:1' })).not.toBe(key);
      expect(keyOf({ actionId: 'act_00000000000000000000000001' })).not.toBe(key);
      expect(keyOf({ kind: 'test' })).not.toBe(key);
    }
  });

  it.each<ActionType>(['slack', 'mattermost', 'rocketchat', 'telegram', 'matrix', 'webex', 'jira', 'github_issue'])(
    'goes at %s under the message that began it, where its id is known',
    (type) => {
      const threaded = settingsOf(type).filter(({ opened }) => opened !== null);
      expect(channels[type].usesThread).toBe(true);
      expect(threaded.length).toBeGreaterThan(0);
      for (const settings of threaded) {
        const [id] = Object.values(settings.opened ?? {}).map((one) => JSON.stringify(one).replaceAll('"', ''));
        expect(sentText(made(type, settings, aNotification({ kind: 'recovered' })))).toContain(id);
        const first = made(type, { ...settings, opened: null }, aNotification());
        expect(sentText(first)).not.toContain(id);
      }
    },
  );
});

describe('a robot that demands a word', () => {
  it.each<ActionType>(['feishu', 'dingtalk'])('finds it in every kind of message of %s', (type) => {
    const [settings] = settingsOf(type);
    if (settings === undefined) throw new Error('no settings');
    const config = { ...settings.config, keyword: 'Wächter', text: '{{ values.none }}' };
    for (const kind of kinds) {
      expect(sentText(made(type, { config, opened: null }, ofKind(kind)))).toContain('Wächter');
    }
  });
});

/** They hand on what was reported, each byte of it, to programs; a mail keeps its text and cleans its headers. */
const raw: readonly ActionType[] = ['email', 'webhook', 'custom', 'mqtt', 'command'];

describe('what a page says', () => {
  it.each(types)('brings no control characters, no marks that turn text, and no second header to %s', (type) => {
    for (const settings of settingsOf(type)) {
      for (const kind of kinds) {
        const outgoing = made(type, settings, ofKind(kind, { context: said(hostileText) }));
        const text = sentText(outgoing).replace(/\\\\u/g, '');
        if (!raw.includes(type)) {
          expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]|\\u00(?:0[0-8]|1[0-9a-f]|7f|9b)/);
        }
        if (outgoing.kind !== 'http') continue;
        for (const { headers, url } of outgoing.requests) {
          for (const value of Object.values(headers)) expect(value).not.toMatch(/[\r\n]/);
          expect(url).not.toMatch(/evil\.example/);
        }
      }
    }
  });
});

describe('a preview of links', () => {
  it.each<[ActionType, RegExp]>([
    ['slack', /\\"unfurl_links\\":false,\\"unfurl_media\\":false/],
    ['telegram', /\\"link_preview_options\\":\{\\"is_disabled\\":true\}/],
    ['discord', /\\"flags\\":4|\\"embeds\\"/],
  ])('is switched off at %s', (type, pattern) => {
    for (const settings of settingsOf(type)) expect(sentText(made(type, settings, aNotification()))).toMatch(pattern);
  });

  it.each<ActionType>(['googlechat', 'msteams', 'pushover'])(
    'finds no link in the text of %s, but in a field of its own',
    (type) => {
      const [settings] = settingsOf(type);
      if (settings === undefined) throw new Error('no settings');
      const outgoing = made(
        type,
        { ...settings, config: { ...settings.config, text: '{{ message }}' } },
        aNotification(),
      );
      expect(sentText(outgoing).match(/https(?::|%3A)(?:\/\/|%2F%2F)meerkat\.example/g)).toHaveLength(1);
    },
  );
});

describe('a text that is too long', () => {
  it.each(types.filter((type) => !['email', 'webhook', 'custom'].includes(type)))(
    'is cut by us for %s where a character ends, and says so',
    (type) => {
      for (const { config, opened } of settingsOf(type)) {
        const long = {
          ...config,
          ...('text' in config || declarationOf(type).templates.includes('text') ? { text: '{{ values.a }}' } : {}),
          ...(declarationOf(type).templates.includes('message') ? { message: '{{ values.a }}' } : {}),
          ...(declarationOf(type).templates.includes('content') ? { content: '{{ values.a }}' } : {}),
        };
        const { context } = aNotification();
        const execution = { ...context.execution, values: { a: '👩‍👩‍👧'.repeat(40_000) } };
        const text = sentText(made(type, { config: long, opened }, aNotification({ context: { execution } })));
        expect(text.isWellFormed()).toBe(true);
        expect(text).toMatch(/…|%E2%80%A6/);
        expect(text).not.toMatch(/\u200d…/u);
        expect(text.length).toBeLessThan(1_500_000);
      }
    },
  );
});

describe('a value that is not there', () => {
  it.each(types)('leaves %s no empty text, and never the word undefined', (type) => {
    const templates = declarationOf(type).templates.filter(
      (name) => name !== 'topic' && name !== 'headers' && name !== 'url',
    );
    for (const { config, opened } of settingsOf(type)) {
      const empty = { ...config, ...Object.fromEntries(templates.map((name) => [name, '{{ values.none }}'])) };
      const { context } = aNotification();
      const execution = { ...context.execution, values: {}, finalUrl: null };
      const text = sentText(
        made(type, { config: empty, opened }, aNotification({ context: { execution, message: '' } })),
      );
      expect(text).not.toMatch(/\bundefined\b|\[object Object\]|\bNaN\b/);
      if (!['email', 'webhook', 'custom', 'mqtt', 'command'].includes(type))
        expect(text).not.toMatch(/\\"(?:text|title|message|content|summary|body)\\":\\"\\"/);
    }
  });
});

describe('a link that only this network knows', () => {
  it.each<ActionType>([
    'slack',
    'msteams',
    'googlechat',
    'telegram',
    'mattermost',
    'rocketchat',
    'pushover',
    'pagerduty',
    'splunk_oncall',
    'grafana_oncall',
    'incident_io',
    'homeassistant',
    'pushbullet',
    'github_issue',
  ])('is in no field of %s', (type) => {
    for (const linkBase of [
      'http://localhost:3000',
      'http://127.0.0.1:3000',
      'http://10.0.0.7',
      'http://meerkat',
      'http://watch.internal',
    ]) {
      for (const { config, opened } of settingsOf(type).filter(
        (one) => one.config['webhookUrl'] === undefined || type !== 'homeassistant',
      )) {
        const settings = { config: { ...config, text: '{{ message }}' }, opened };
        expect(sentText(made(type, settings, aNotification(), { linkBase }))).not.toContain(linkBase);
      }
    }
  });
});

describe('a token in an address', () => {
  it.each(httpTypes)('is not in what the record of a delivery shows of %s', (type) => {
    for (const settings of settingsOf(type)) {
      for (const { method, url } of requestsOf(type, settings)) {
        const { url: shown } = httpSummary(method, url);
        expect(shown).not.toContain('?');
        for (const segment of new URL(shown).pathname.split('/')) expect(isToken(segment)).toBe(false);
      }
    }
  });

  it.each(types)('of %s is sealed wherever its schema says that it is a secret', (type) => {
    const { config, sealed } = declarationOf(type);
    const { properties = {} } = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' });
    for (const [name, schema] of Object.entries(properties)) {
      const isMarked = JSON.stringify(schema).includes('"writeOnly":true');
      const isNamed = /(?:token|secret|password)$/i.test(name);
      if (isMarked || isNamed) expect(sealed.map((path) => path.split(/[.[]/)[0])).toContain(name);
      if (isNamed) expect([name, isMarked]).toEqual([name, true]);
    }
  });
});

describe('an address that leads elsewhere', () => {
  const fixed: readonly ActionType[] = ['slack', 'discord', 'msteams', 'googlechat', 'feishu', 'dingtalk'];
  it.each(fixed)('is refused by %s, whose host is its own', (type) => {
    const { config, addresses } = declarationOf(type);
    const [name = ''] = addresses;
    const [settings] = settingsOf(type).filter((one) => typeof one.config[name] === 'string');
    const address = z.string().parse(settings?.config[name]);
    const { host } = new URL(address);
    for (const other of [
      'evil.example',
      `${host}.evil.example`,
      `evil-${host.replace(/\..*/, '')}.example`,
      '169.254.169.254',
      `${host}@evil.example`,
    ]) {
      const bad = address.replace(host, other);
      expect([other, config.safeParse({ ...settings?.config, [name]: bad }).success]).toEqual([other, false]);
    }
    expect(config.safeParse({ ...settings?.config, [name]: address.replace('https:', 'http:') }).success).toBe(false);
  });

  it.each(types)('of %s is declared, so that it is checked when it is saved', (type) => {
    const { config, addresses, sealed } = declarationOf(type);
    const { properties = {} } = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' });
    const names = Object.keys(properties).filter((name) => /^(?:url|homeserver|.*Url)$/.test(name));
    expect(addresses).toEqual(expect.arrayContaining(names));
    for (const name of names) expect(sealed).toContain(name);
  });

  it.each(vendorTypes)('is never followed with the secrets of %s: a redirect is no success', (type) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const headers = { location: 'https://evil.example/' };
      for (const verdict of verdictsOn(type, answerOf(status, '', headers)))
        expect(verdict.state).not.toBe('delivered');
    }
  });
});

describe('what a receiver refuses for its content', () => {
  it('is left out, and the message is not: slack gets its text alone', () => {
    for (const settings of settingsOf('slack')) {
      const [request] = requestsOf('slack', settings);
      expect(request?.body).toContain('"blocks"');
      expect(request?.fallback?.body).not.toContain('"blocks"');
      expect(request?.fallback).toMatchObject({ url: request?.url, step: request?.step });
    }
  });
});

describe('a service that has ended', () => {
  const ended: readonly [ActionType, Record<string, string>, RegExp][] = [
    [
      'msteams',
      { workflowUrl: 'https://example.webhook.office.com/webhookb2/a@b/IncomingWebhook/c/d' },
      /Office 365 connector/,
    ],
    ['msteams', { workflowUrl: 'https://outlook.office.com/webhook/a@b/IncomingWebhook/c/d' }, /Office 365 connector/],
    [
      'line',
      { channelToken: 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1p', to: 'U4af4980629a1b2c3d4e5f60718293a4b' },
      /LINE Notify/,
    ],
  ];
  it.each(ended)('is refused by %s with what to do: %j', (type, config, why) => {
    const parsed = declarationOf(type).config.safeParse(config);
    expect(parsed.success ? '' : JSON.stringify(parsed.error.issues)).toMatch(why);
  });

  it('is asked by nobody: the search of jira is the new one in the cloud', () => {
    for (const { config } of settingsOf('jira')) {
      const [create] = requestsOf('jira', { config, opened: null });
      expect(create?.unless?.url).toMatch(
        config['email'] === undefined ? /\/rest\/api\/2\/search$/ : /\/rest\/api\/3\/search\/jql$/,
      );
    }
  });
});

describe('a test message', () => {
  const quiet: readonly [ActionType, RegExp][] = [
    ['pagerduty', /\\"severity\\":\\"info\\".*\\"event_action\\":\\"resolve\\"/],
    ['opsgenie', /\\"priority\\":\\"P5\\".*\/close\?identifierType=alias/],
    ['splunk_oncall', /\\"message_type\\":\\"INFO\\"/],
    ['grafana_oncall', /\\"state\\":\\"alerting\\".*\\"state\\":\\"ok\\"/],
    ['incident_io', /\\"status\\":\\"firing\\".*\\"status\\":\\"resolved\\"/],
  ];
  it.each(quiet)('wakes nobody at %s, and leaves nothing open', (type, pattern) => {
    for (const settings of settingsOf(type)) {
      expect(sentText(made(type, settings, aNotification({ kind: 'test' })))).toMatch(pattern);
    }
  });

  it.each<ActionType>(['jira', 'github_issue'])('closes at %s the issue that it makes', (type) => {
    for (const { config } of settingsOf(type)) {
      const first = made(type, { config, opened: null }, aNotification({ kind: 'test' }));
      expect(first).toMatchObject({ kind: 'http', more: true });
    }
  });

  it.each<ActionType>(['twilio_sms', 'vonage_sms', 'whatsapp'])(
    'of %s costs, and its documentation says so',
    (type) => {
      expect(readme(type)).toMatch(/test message is sent, and paid for/);
    },
  );

  it('says that it is one, whichever channel shows it', () => {
    for (const { type } of declarations) {
      const [settings] = settingsOf(type);
      if (settings === undefined || ['custom', 'command', 'mqtt', 'webhook'].includes(type)) continue;
      const text = sentText(
        made(type, settings, aNotification({ kind: 'test', context: { message: 'This is a test.' } })),
      );
      expect([type, /test/i.test(text)]).toEqual([type, true]);
    }
  });
});
