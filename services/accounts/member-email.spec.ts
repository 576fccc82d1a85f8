import { describe, expect, it } from '@jest/globals';
import { accountEmail } from '#contracts/account';
import { kitPepper } from './accounts.kit.js';
import { hashEmail } from './member-email.js';

const hashOf = (email: string): string => hashEmail(email, kitPepper);

describe('the hash by which an address is found', () => {
  it('is the same as in every version before, whatever the case', () => {
    const stored = 'iHpjtzJPsbabK2adjtg5ZNhDzVwAlHrVlLfcuXkbDlE';
    for (const email of ['owner0@corp.example', 'Owner0@CORP.example']) expect(hashOf(email)).toBe(stored);
    expect(hashOf('JÜRGEN@пример.рф')).toBe(hashOf('jürgen@ПРИМЕР.рф'));
  });

  it.each([
    ['owner0@corp.example', 'ｏwner0@corp.example'],
    ['owner0@corp.example', 'owner0@ｃorp.example'],
    ['sam@corp.example', 'ſam@corp.example'],
    ['kim@corp.example', '\u212aim@corp.example'],
    ['ivan@corp.example', 'İvan@corp.example'],
    ['i\u0307van@corp.example', 'İvan@corp.example'],
    ['fiona@corp.example', 'ﬁona@corp.example'],
    ['jürgen@corp.example', 'ju\u0308rgen@corp.example'],
  ])('of %s is not that of %s, which is nobody’s address', (email, alike) => {
    expect(hashOf(alike)).not.toBe(hashOf(email));
    expect(accountEmail.safeParse(alike).success).toBe(false);
  });

  it('is one address’s alone, of all letters that an address may have, but for their case', () => {
    const found = new Map<string, string>();
    const shared: string[] = [];
    for (let code = 1; code <= 0xffff; code += 1) {
      const email = `a${String.fromCodePoint(code)}@example.com`;
      if (!accountEmail.safeParse(email).success) continue;
      const other = found.get(hashOf(email)) ?? email.toLowerCase();
      if (other !== email.toLowerCase()) shared.push(email);
      found.set(hashOf(email), other);
    }
    expect(shared).toEqual([]);
    expect(found.size).toBeGreaterThan(40_000);
  });
});
