import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createLinkSigner } from './link-signer.js';

const signer = createLinkSigner(Buffer.alloc(32, 1));

describe('a signed link', () => {
  it('gives back what it was made of, and is the same each time', () => {
    const fields = ['ntf_1', 'act_1', 'condition:3'];
    const token = signer.sign('acknowledge', fields);
    expect(token).toMatch(/^[\w-]+\.[\w-]+$/);
    expect(signer.sign('acknowledge', fields)).toBe(token);
    expect(signer.read('acknowledge', token)).toEqual(fields);
  });

  it('is good for one purpose and one installation', () => {
    const token = signer.sign('acknowledge', ['ntf_1']);
    expect(signer.read('unsubscribe', token)).toBeNull();
    expect(createLinkSigner(Buffer.alloc(32, 2)).read('acknowledge', token)).toBeNull();
  });

  it('with any other letter is none', () => {
    const token = signer.sign('acknowledge', ['ntf_1', 'act_1', 'condition:3']);
    fc.assert(
      fc.property(
        fc.nat({ max: token.length - 1 }),
        fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '-', '_', '.'),
        (at, letter) => {
          fc.pre(token[at] !== letter);
          expect(signer.read('acknowledge', token.slice(0, at) + letter + token.slice(at + 1))).toBeNull();
        },
      ),
    );
    fc.assert(fc.property(fc.string(), (text) => signer.read('acknowledge', text) === null));
  });

  it('is of the key of now alone, and a name of the first one for good', () => {
    const [now, former] = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)];
    const signer = createLinkSigner(now, former);
    const before = createLinkSigner(former);
    expect(signer.read('acknowledge', before.sign('acknowledge', ['ntf_1']))).toBeNull();
    expect(signer.read('acknowledge', signer.sign('acknowledge', ['ntf_1']))).toEqual(['ntf_1']);
    expect(signer.nameOf('ann@example.com')).toBe(before.nameOf('ann@example.com'));
  });
});
