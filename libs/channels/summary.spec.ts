import { describe, expect, it } from '@jest/globals';
import { httpSummary, mailSummary } from './summary.js';

describe('the recorded summary of an address', () => {
  it.each([
    ['https://user:pass@hooks.example:8443/in/put?token=1#x', 'https://hooks.example:8443/in/put'],
    ['https://hooks.example/services/T01/B02/aB3dE5gH7jK9mN1pQ3sT5vW7', 'https://hooks.example/services/T01/B02/…'],
    ['not an address', ''],
  ])('for %s is %s', (url, kept) => {
    expect(httpSummary('POST', url)).toEqual({ method: 'POST', url: kept });
  });

  it('distinguishes mailboxes without showing them', () => {
    expect(mailSummary(['anna@example.com', 'b@example.org'])).toEqual({
      method: 'smtp',
      url: 'a…@example.com, b…@example.org',
    });
    expect(mailSummary(['a@x.example', 'b@x.example', 'c@x.example', 'd@x.example']).url).toMatch(/ and 1 more$/);
  });
});
