import { describe, expect, it } from '@jest/globals';
import { builtScript, findBuiltScript } from './built-script.js';

describe('built script', () => {
  it('a built script is the first of its places that exists', () => {
    const places = ['./not-there.js', './clock.ts', './ids.ts'];
    expect(builtScript(import.meta.url, places)).toEqual(new URL('./clock.ts', import.meta.url));
  });

  it('a script that exists at none of its places is null when it is optional', () => {
    expect(findBuiltScript(import.meta.url, ['./not-there.js'])).toBeNull();
  });

  it('a required script that exists at none of its places throws an error that names the build command', () => {
    expect(() => builtScript(import.meta.url, ['./not-there.js'])).toThrow('npm run build');
  });
});
