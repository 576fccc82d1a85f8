import { describe, expect, it } from '@jest/globals';
import { freshAction, freshContactAction, type ActionDraft } from './action-draft.js';
import type { ActionType } from './action-types.js';
import type { Settings } from './field-kinds.js';
import { actionWithoutSecrets, addressWithoutPassword, stepWithoutSecrets } from './without-secrets.js';

const text = { type: 'string' };
const secret = { type: 'string', writeOnly: true };
const types: readonly ActionType[] = [
  {
    type: 'webhook',
    available: true,
    configSchema: {
      type: 'object',
      properties: {
        url: text,
        secret,
        timeoutSeconds: { type: 'integer' },
        headers: { type: 'object', additionalProperties: text },
        secrets: { type: 'object', additionalProperties: secret },
        parts: { type: 'array', items: { type: 'object', properties: { name: text, token: secret } } },
        either: { anyOf: [{ type: 'null' }, secret] },
        to: { anyOf: [text, { type: 'array', items: text }] },
      },
      additionalProperties: false,
    },
  },
];
const configOf = (action: ActionDraft): Settings => ('config' in action ? action.config : {});
const keptOf = (config: Settings, type = 'webhook'): Settings =>
  configOf(actionWithoutSecrets({ ...freshAction(type), config }, types));

describe('an action that is kept in a browser', () => {
  it('keeps its settings and none of its secrets, at any depth and in any form', () => {
    const config = {
      url: 'https://hooks.example/',
      secret: 'canary',
      timeoutSeconds: 5,
      secrets: { key: 'canary' },
      parts: [{ name: 'one', token: 'canary' }],
      either: 'canary',
      to: ['a@example.com'],
    };
    expect(keptOf(config)).toEqual({
      url: 'https://hooks.example/',
      timeoutSeconds: 5,
      secrets: {},
      parts: [{ name: 'one' }],
      to: ['a@example.com'],
    });
  });

  it('keeps headers, but for those that let somebody in', () => {
    const headers = { 'X-Task': 'one', Authorization: 'canary', 'X-Api-Key': 'canary', Cookie: 'canary' };
    expect(keptOf({ headers })).toEqual({ headers: { 'X-Task': 'one' } });
  });

  it('keeps nothing that its channel does not describe', () => {
    expect(keptOf({ surprise: 'canary', constructor: 'canary' })).toEqual({});
    expect(keptOf({ url: 'canary' }, 'pigeon')).toEqual({});
  });

  it('is the name of its contact where that has the settings', () => {
    expect(actionWithoutSecrets(freshContactAction('ops'), types)).toEqual(freshContactAction('ops'));
  });
});

describe('an edit of an action that is kept in a browser', () => {
  const stored = {
    ...freshAction('webhook'),
    config: {
      secret: '********',
      headers: { Authorization: '********' },
      secrets: { key: '********' },
      parts: [{ token: '********' }],
    },
  };
  const keptOfEdit = (config: Settings): Settings =>
    configOf(actionWithoutSecrets({ ...freshAction('webhook'), config }, types, stored));

  it('keeps the masks of secrets, which say that they stay', () => {
    expect(keptOfEdit(stored.config)).toEqual(stored.config);
  });

  it('keeps of a secret that is typed anew the mask of the stored one', () => {
    const config = {
      secret: 'canary',
      headers: { Authorization: 'canary', 'X-Api-Key': 'canary' },
      secrets: { key: 'canary', other: 'canary' },
      parts: [{ token: 'canary' }, { token: 'canary' }],
    };
    const kept = { ...stored.config, parts: [{ token: '********' }, {}] };
    expect(keptOfEdit(config)).toEqual(kept);
  });

  it('keeps no mask of another channel', () => {
    const edited = { ...freshAction('webhook'), config: { secret: 'canary' } };
    expect(configOf(actionWithoutSecrets(edited, types, { ...stored, type: 'pigeon' }))).toEqual({});
  });
});

describe('an address that is kept in a browser', () => {
  it.each([
    ['https://me:canary@shop.example/', 'https://me@shop.example/'],
    ['https://me:********@shop.example/', 'https://me:********@shop.example/'],
    ['https://shop.example', 'https://shop.example'],
    ['half a thought: @', 'half a thought: @'],
  ])('says no password: %s', (typed, kept) => {
    expect(addressWithoutPassword(typed)).toBe(kept);
    expect(keptOf({ url: typed })).toEqual({ url: kept });
  });
});

describe('a step that is kept in a browser', () => {
  it('fills in nothing unless that is said to be no secret', () => {
    const step = { do: 'fill', selector: '#name', value: 'canary' } as const;
    expect(stepWithoutSecrets(step)).toEqual({ ...step, value: '' });
    expect(stepWithoutSecrets({ ...step, secret: false })).toEqual({ ...step, secret: false });
    expect(stepWithoutSecrets({ do: 'click', selector: '#go' })).toEqual({ do: 'click', selector: '#go' });
  });
});
