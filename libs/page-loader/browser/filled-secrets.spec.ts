import { describe, expect, it } from '@jest/globals';
import { filledSecrets } from './filled-secrets.js';

const fill = (value: string, isSecret = true) => ({ do: 'fill', selector: '#a', value, isSecret }) as const;

describe('what steps fill in as a secret', () => {
  const secrets = filledSecrets([
    fill('ada'),
    fill('two words&more'),
    fill('open', false),
    { do: 'click', selector: '#b' },
  ]);

  it.each([
    [
      'https://a.example/in?user=ada&word=two+words%26more&q=open',
      'https://a.example/in?user=********&word=********&q=open',
    ],
    ['https://canada.example/ada?x=adas#ada', 'https://canada.example/ada?x=adas#ada'],
    ['https://a.example/?a=%20b', 'https://a.example/?a=%20b'],
    ['no address', 'no address'],
  ])('is masked where a form made it a parameter of an address, and nothing else is touched: %s', (address, masked) => {
    expect(secrets.inAddress(address)).toBe(masked);
  });

  it('is masked in a sentence in each way that it is written, unless it is short enough to be part of any', () => {
    const said = 'at https://canada.example/?w=two+words%26more and two%20words%26more, two words&more, open';
    expect(secrets.inText(said)).toBe('at https://canada.example/?w=******** and ********, ********, open');
  });
});
