import { describe, expect, it } from '@jest/globals';
import { nearestName } from './nearest-name.js';

const known = ['SMTP_URL', 'MAIL_FROM', 'PORT', 'HOST', 'DATA_DIR'];

describe('the nearest of known names', () => {
  it.each([
    ['SMPT_URL', 'SMTP_URL'],
    ['SMTPURL', 'SMTP_URL'],
    ['smtp_url', 'SMTP_URL'],
    ['MAIL_FORM', 'MAIL_FROM'],
    ['MAILFROM', 'MAIL_FROM'],
    ['DATADIR', 'DATA_DIR'],
    ['PROT', 'PORT'],
    ['POSTGRES', null],
    ['NODE_ENV', null],
    ['MAIL', null],
    ['', null],
    ['SMTP_URL'.padEnd(1_000_000, '_'), null],
  ])('%s: %s', (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });
});
