import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from './json.js';
import { packJson, unpackJson } from './packed-json.js';

/** Packed by each form: what is stored stays readable. */
const stored = {
  'a dictionary': 'AcOdXXMtzCtKMoyTqrJSUk0KDU3NDYoqUwoT0zCzMVhlmkWKYWGFabFZdrmZUWJuekZiEsFyH9IogTsd1p42t0TKpLW1AA==',
  'compact JSON': 'EBYBE0AWBicmMzQ1E1Qa1pHq/cFo/JriXCU4MebdTxi7HQ36XJp8MJVIRUtLAhYBQM8F',
  'compact JSON that is deflated': 'EQEyAM3/FgETQBYGJyYzNDUTVBrWker9wWj8muJcJTgx5t1PGLsdDfpcmnwwlUhFS0sCFgFAzwU=',
};
const text =
  '{"result":{"runId":"exe_01m87xth3bzjde4q1570rydqaf","taskId":"ntf_01m87xtf8d1qx5s6kw62amghab","status":"succeeded","outcome":true,"values":{"price":79},"logs":[]}}';

describe('packed JSON', () => {
  it('is the value again once it is unpacked', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (json) => {
        expect(JSON.stringify(unpackJson(packJson(JSON.parse(json) as Json)))).toBe(json);
      }),
    );
    const long = { code: 'return document.title;\n'.repeat(5_000) };
    expect(unpackJson(packJson(long))).toEqual(long);
    expect(packJson(long).length).toBeLessThan(1_000);
  });

  it('takes a fraction of what it says in few words that nearly all have', () => {
    expect(packJson(JSON.parse(text) as Json).length).toBeLessThan(text.length / 3);
  });

  it.each(Object.entries(stored))('is read as it was packed by %s', (_form, packed) => {
    expect(JSON.stringify(unpackJson(Buffer.from(packed, 'base64')))).toBe(text);
  });

  it('may be a text that was never packed', () => {
    expect(JSON.stringify(unpackJson(Buffer.from(text)))).toBe(text);
  });

  it('cannot be read where it was cut or changed', () => {
    const packed = packJson(JSON.parse(text) as Json);
    expect(() => unpackJson(packed.subarray(0, -1))).toThrow('invalid');
    packed.fill(0xff, 1, 4);
    expect(() => unpackJson(packed)).toThrow('invalid');
    packed[0] = 1;
    expect(() => unpackJson(packed)).toThrow('invalid');
  });
});
