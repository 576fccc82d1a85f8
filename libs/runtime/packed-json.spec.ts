import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { packJson, unpackJson } from './packed-json.js';

/** Packed by the first dictionary: what is stored stays readable. */
const stored = 'AcOdXXMtzCtKMoyTqrJSUk0KDU3NDYoqUwoT0zCzMVhlmkWKYWGFabFZdrmZUWJuekZiEsFyH9IogTsd1p42t0TKpLW1AA==';
const text =
  '{"result":{"runId":"exe_01m87xth3bzjde4q1570rydqaf","taskId":"ntf_01m87xtf8d1qx5s6kw62amghab","status":"succeeded","outcome":true,"values":{"price":79},"logs":[]}}';

describe('packed JSON', () => {
  it('is the text again once it is unpacked', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (json) => {
        expect(unpackJson(packJson(json))).toBe(json);
      }),
    );
    const long = JSON.stringify({ code: 'return document.title;\n'.repeat(5_000) });
    expect(unpackJson(packJson(long))).toBe(long);
  });

  it('takes a fraction of what it says in few words that nearly all have', () => {
    expect(packJson(text).length).toBeLessThan(text.length / 2);
  });

  it('is read as it was packed by each version', () => {
    expect(unpackJson(Buffer.from(stored, 'base64'))).toBe(text);
  });

  it('may be a text that was never packed', () => {
    expect(unpackJson(Buffer.from(text))).toBe(text);
  });

  it('cannot be read where it was cut or changed', () => {
    const packed = packJson(text);
    packed[0] = 1;
    packed.fill(0xff, 1, 4);
    expect(() => unpackJson(packed)).toThrow('invalid');
  });
});
