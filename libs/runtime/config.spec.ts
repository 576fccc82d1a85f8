import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConfigError, readClientSettings, readConfig } from './config.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'meerkat-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const faultsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  try {
    readConfig(environment, folder);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
};

describe('an address with a password', () => {
  it.each([
    ['smtp://user:pa#ss@mail.example.com:587', '# as %23'],
    ['smtp://user:12#34@mail.example.com:587', '# as %23'],
    ['smtp://user:12/34@mail.example.com', '/ as %2F'],
    ['smtps://user:p@ss@mail.example.com', '@ as %40'],
    ['smtp://me@example.com:secret@mail.example.com', '@ as %40'],
    ['smtp://user:p@s/s@mail.example.com', '@ as %40, / as %2F'],
    ['smtp://user:what?@mail.example.com', '? as %3F'],
  ])('that is written plainly is refused, with what to write, and not shown: %s', (SMTP_URL, written) => {
    const [fault, ...others] = faultsOf({ SMTP_URL });
    expect(others).toEqual([]);
    expect(fault).toBe(`SMTP_URL: has a user name or password with a character that separates; write ${written}.`);
  });

  it.each(['smtp://user:100%@mail.example.com:587', 'smtp://50%off:secret@mail.example.com'])(
    'with a lone % is refused, with what to write: %s',
    (SMTP_URL) => {
      const written = 'has a user name or password with a character that begins a percent-encoding; write % as %25';
      expect(faultsOf({ SMTP_URL })).toEqual([`SMTP_URL: ${written}.`]);
    },
  );

  it.each(['smtp://user:pa%23ss@mail.example.com:587', 'smtp://mail.example.com', 'smtps://user:p%40ss%2F@[::1]:465'])(
    'that is percent-encoded is taken: %s',
    (SMTP_URL) => expect(faultsOf({ SMTP_URL })).toEqual([]),
  );

  it('is refused for a proxy and a server of events as well, and options of an engine may have such a character', () => {
    expect(faultsOf({ EGRESS_PROXY: 'http://u:p#x@proxy.example:3128' })[0]).toContain(
      'EGRESS_PROXY: has a user name or password',
    );
    expect(faultsOf({ READ_STORE_URL: 'mongodb://u:p/x@mongo.example/db?tls=true' })[0]).toContain('write / as %2F');
    expect(
      faultsOf({ READ_STORE_URL: 'mongodb://u:p@mongo.example/db?tls=true&appName=a@b', SNAPSHOT_URL: 'file' }),
    ).toEqual([]);
    expect(faultsOf({ BROWSER: 'ws://u:p@x@chrome.example:3000/?token=a@b' })[0]).toContain('write @ as %40');
    expect(faultsOf({ BROWSER: 'ws://u:p%40x@chrome.example:3000/?token=a@b' })).toEqual([]);
  });

  it('is refused where nobody signs in by it, or where it would be shown to everybody', () => {
    for (const name of ['PUBLIC_URL', 'NETWORK_PROBE_URL', 'OIDC_CORP_ISSUER']) {
      const provider = { OIDC_CORP_CLIENT_ID: 'a', OIDC_CORP_CLIENT_SECRET: 'b' };
      const given = name.startsWith('OIDC') ? provider : {};
      expect(faultsOf({ ...given, [name]: 'https://ada:secret@meerkat.example' })).toEqual([
        `${name}: must not hold a user name or password.`,
      ]);
    }
  });
});

describe('settings of which several cannot be used', () => {
  it('are named all at once, those whose entries are no ranges among them', () => {
    expect(faultsOf({ PORT: '51020000', EGRESS_ALLOW: '127.0.0.1/99', TRUSTED_PROXIES: '10.0.0.0/8,::1/129' })).toEqual(
      [
        'PORT: must be at most 65535.',
        'EGRESS_ALLOW: must be CIDRs or host names such as 10.0.0.0/8,intranet.example.',
        'TRUSTED_PROXIES: must be CIDRs such as 10.0.0.0/8.',
      ],
    );
  });

  it('are named together with those that do not go together', () => {
    expect(
      faultsOf({ PORT: 'x', ROLES: 'gateway', OWNER_EMAIL: 'ada@example.com', MAIL_DKIM_DOMAIN: 'a.example' }),
    ).toEqual([
      'PORT: must be a whole number from 0 to 65535.',
      expect.stringMatching(/^ROLES: split roles need servers/),
      expect.stringMatching(/^MAIL_DKIM_DOMAIN: goes with/),
      'OWNER_EMAIL: needs OWNER_PASSWORD, and the other way round.',
    ]);
  });

  it('bring no fault on others that merely go with them', () => {
    expect(faultsOf({ OWNER_EMAIL: 'ada@example.com', OWNER_PASSWORD: 'short' })).toEqual([
      'OWNER_PASSWORD: must have at least 12 characters.',
    ]);
    expect(faultsOf({ OWNER_EMAIL: 'ada@example.com', OWNER_PASSWORD_FILE: join(folder, 'none') })).toEqual([
      expect.stringMatching(/^OWNER_PASSWORD_FILE: the file .* cannot be read\.$/),
    ]);
    expect(faultsOf({ ROLES: 'gateway', BUS_URL: 'amqp://bus' })).toEqual([expect.stringMatching(/^BUS_URL: /)]);
  });
});

describe('ranges and names that may be reached', () => {
  it.each([
    '10.0.0.0/8',
    '::1',
    'fd00::/8',
    '::ffff:192.0.2.1',
    'wiki',
    '*.apps.example',
    'beef',
    '192.0.2.1,Intranet.example',
  ])('are taken as %s', (EGRESS_ALLOW) => expect(faultsOf({ EGRESS_ALLOW })).toEqual([]));

  it.each([
    '127.0.0.1/99',
    '10.0.0.0/',
    '999.1.1.1',
    '10.1',
    '0x7f000001',
    '::1/129',
    'fe80::1%eth0',
    'a..b',
    '10.0.0.0/8/8',
  ])('are refused as %s', (EGRESS_ALLOW) =>
    expect(faultsOf({ EGRESS_ALLOW })).toEqual([expect.stringMatching(/^EGRESS_ALLOW: must be CIDRs/)]),
  );
});

describe('the address that commands ask', () => {
  const apiKey = { MEERKAT_API_KEY: 'mk_a' };
  const urlOf = (environment: Readonly<Record<string, string>>): string =>
    readClientSettings({ ...apiKey, ...environment }, folder).url;

  it('is where a server with the same settings listens, those of .env among them', () => {
    expect(urlOf({})).toBe('http://127.0.0.1:3000');
    writeFileSync(join(folder, '.env'), 'PORT=5100\n');
    expect(urlOf({})).toBe('http://127.0.0.1:5100');
    expect(urlOf({ HOST: '0.0.0.0', PORT: '5200' })).toBe('http://localhost:5200');
    expect(urlOf({ HOST: '::1', PORT: '0' })).toBe('http://[::1]:3000');
  });

  it('is MEERKAT_URL where that is set, whatever else there is', () => {
    const MEERKAT_URL = 'https://meerkat.example.com';
    expect(urlOf({ MEERKAT_URL, PORT: 'many' })).toBe(MEERKAT_URL);
    expect(() => urlOf({ PORT: 'many' })).toThrow('PORT: must be a whole number');
  });
});

describe('the file .env', () => {
  it('has names that resemble a setting named, and others left alone', () => {
    writeFileSync(
      join(folder, '.env'),
      'SMPT_URL=smtp://mail.example.com\nMAILFROM=me@example.com\nNODE_ENV=production\nPORT=3000\n',
    );
    const { warnings, smtpUrl } = readConfig({}, folder);
    expect(smtpUrl).toBeNull();
    expect(warnings.toReversed()).toEqual([
      expect.stringMatching(/has SMPT_URL, which is no setting; did you mean SMTP_URL\?$/),
      expect.stringMatching(/has MAILFROM, which is no setting; did you mean MAIL_FROM\?$/),
    ]);
  });

  it('is no cause of warnings where it is not there, or right', () => {
    expect(readConfig({}, folder).warnings).toEqual([]);
    writeFileSync(join(folder, '.env'), 'SMTP_URL_FILE=\nOWNER_EMAIL=\n');
    expect(readConfig({}, folder).warnings).toEqual([]);
  });
});
