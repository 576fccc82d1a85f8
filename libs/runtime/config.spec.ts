import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConfigError, readConfig } from './config.js';

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
