import { describe, expect, it } from '@jest/globals';
import { readConfig } from './config.js';

const corp = {
  OIDC_CORP_ISSUER: 'https://login.example.com',
  OIDC_CORP_CLIENT_ID: 'meerkat',
  OIDC_CORP_CLIENT_SECRET: 's',
};
const read = (more: Readonly<Record<string, string>>) => readConfig({ ...corp, ...more }, '/nonexistent').oidcProviders;

describe('settings of a sign-in provider', () => {
  it('are read by its id, several providers beside each other', () => {
    expect(
      read({
        OIDC_CORP_NAME: 'Corp',
        OIDC_CORP_GROUPS: 'groups:a b=editor, roles:x:y=owner',
        OIDC_CORP_SIGN_UP: 'on',
        OIDC_B2_ISSUER: 'http://127.0.0.1:9',
        OIDC_B2_CLIENT_ID: 'm',
        OIDC_B2_CLIENT_SECRET: 't',
      }),
    ).toEqual([
      {
        id: 'b2',
        name: 'b2',
        issuer: 'http://127.0.0.1:9',
        clientId: 'm',
        clientSecret: 't',
        groups: [],
        signUp: false,
      },
      {
        id: 'corp',
        name: 'Corp',
        issuer: 'https://login.example.com',
        clientId: 'meerkat',
        clientSecret: 's',
        groups: [
          { claim: 'groups', value: 'a b', role: 'editor' },
          { claim: 'roles', value: 'x:y', role: 'owner' },
        ],
        signUp: true,
      },
    ]);
  });

  it.each([
    [{ OIDC_CORP_CLIENT_ID: '' }, 'OIDC_CORP_CLIENT_ID: must be set'],
    [{ OIDC_CORP_ISSUER: 'login' }, 'OIDC_CORP_ISSUER: must be an address'],
    [{ OIDC_CORP_ISSUER: 'http://login.example.com' }, 'OIDC_CORP_ISSUER: must begin with https://'],
    [{ OIDC_CORP_GROUPS: 'groups=admin' }, 'OIDC_CORP_GROUPS: must be claim:value=role'],
    [{ OIDC_CORP_GROUPS: 'groups:a=boss' }, 'OIDC_CORP_GROUPS: must be claim:value=role'],
    [{ OIDC_CORP_SIGNUP: 'on' }, 'OIDC_CORP_SIGNUP: is no setting'],
    [{ OIDC_CORP_SIGN_UP: 'yes' }, 'OIDC_CORP_SIGN_UP: must be on or off'],
  ])('that cannot be used are named: %j', (more, fault) => {
    expect(() => read(more)).toThrow(fault);
  });
});
