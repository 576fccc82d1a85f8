import { describe, expect, it } from '@jest/globals';
import { accountEmail, isPlainAddress } from './account.js';
import { plainLetters } from './plain-letters.js';

const taken = new RegExp(`^[${plainLetters}]$`);
const letters = Array.from({ length: 0xd800 - 0x80 }, (_, at) => String.fromCharCode(at + 0x80));
const plain = letters.filter((letter) => taken.test(letter));

describe('the letters of an address', () => {
  it('stand for themselves, each alone and behind another', () => {
    expect(plain.filter((letter) => !isPlainAddress(letter))).toEqual([]);
    const joined = plain.filter((letter) =>
      ['a', 'o', 'е', 'ι', 'の', 'क'].some((one) => !isPlainAddress(one + letter)),
    );
    expect(joined).toEqual([]);
  });

  it('are those of the scripts that people write', () => {
    const addresses = [
      'jürgen@straße.example',
      'юля@почта.example',
      '用户@例え.example',
      'ผู้ใช้@ตัวอย่าง.example',
      'nguyễn@thư.example',
    ];
    for (const address of addresses) expect(accountEmail.safeParse(address).data).toBe(address);
  });

  it.each([
    'ｏwner@corp.example',
    'ſ@x.example',
    '\u212aim@x.example',
    'İ@x.example',
    'ﬁ@x.example',
    'e\u0301@x.example',
  ])('are none of %s', (address) => {
    const { error } = accountEmail.safeParse(address);
    expect(error?.issues.map(({ message }) => message)).toEqual([expect.stringContaining('plain letters')]);
  });
});
