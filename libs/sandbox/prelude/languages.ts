/** Where code asks for numbers and dates in a language: what answers is read when it is first asked for. */
import { lazyModule } from './lazy-modules.js';

const languages = lazyModule('intl');

export function installLanguages(): void {
  const define = (object: object, name: string, value: unknown): void =>
    void Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
  Object.defineProperty(globalThis, 'Intl', {
    get: () => languages().intl,
    set: (value: unknown) => {
      define(globalThis, 'Intl', value);
    },
    enumerable: false,
    configurable: true,
  });
  define(
    Number.prototype,
    'toLocaleString',
    function toLocaleString(this: unknown, locales?: unknown, options?: object) {
      return languages().numberText(Number(this), locales, options);
    },
  );
  define(
    BigInt.prototype,
    'toLocaleString',
    function toLocaleString(this: bigint, locales?: unknown, options?: object) {
      return languages().numberText(BigInt(this), locales, options);
    },
  );
  define(Date.prototype, 'toLocaleString', function toLocaleString(this: Date, locales?: unknown, options?: unknown) {
    return languages().dateText(this, locales, options, 'both');
  });
  define(
    Date.prototype,
    'toLocaleDateString',
    function toLocaleDateString(this: Date, locales?: unknown, options?: unknown) {
      return languages().dateText(this, locales, options, 'date');
    },
  );
  define(
    Date.prototype,
    'toLocaleTimeString',
    function toLocaleTimeString(this: Date, locales?: unknown, options?: unknown) {
      return languages().dateText(this, locales, options, 'time');
    },
  );
}
