/** The clock and the dice of a run, both given: the same page, code and seed answer the same. */
import { touch } from './touched.js';

const RealDate = Date;
const construct = Reflect.construct;

// Taken before any user code runs: patched built-ins must not change the dice.
const { imul } = Math;
const charCodeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (text: string, at: number) => number;

let nowMs = 0;
/** Until the dice are first thrown: most code never does, and seeding costs as much as a selector. */
let waitingSeed: string | null = null;
let randomState: [number, number, number, number] = [1, 2, 3, 4];

function SteadyDate(this: unknown, ...args: unknown[]): unknown {
  if (new.target === undefined || args.length === 0) touch('clock');
  if (new.target === undefined) return new RealDate(nowMs).toString();
  return construct(RealDate, args.length === 0 ? [nowMs] : args, new.target);
}

/** FNV-1a over the seed, once for each word of the state. */
function seedRandom(seed: string): void {
  const word = (salt: number): number => {
    let hash = 0x811c9dc5 ^ salt;
    for (let at = 0; at < seed.length; at++) {
      const unit = charCodeAt(seed, at);
      hash = imul(hash ^ (unit & 0xff), 0x01000193);
      hash = imul(hash ^ (unit >> 8), 0x01000193);
    }
    return hash | 0;
  };
  randomState = [word(1), word(2), word(3), word(4) | 1];
  for (let round = 0; round < 16; round++) nextRandom();
}

/** xoshiro128** */
function nextRandom(): number {
  let [a, b, c, d] = randomState;
  const scrambled = imul(b, 5);
  const result = imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
  const shifted = b << 9;
  c ^= a;
  d ^= b;
  b ^= c;
  a ^= d;
  c ^= shifted;
  d = (d << 11) | (d >>> 21);
  randomState = [a, b, c, d];
  return result;
}

export function startClock(startMs: number, seed: string): void {
  nowMs = startMs;
  waitingSeed = seed;
}

function readClock(): number {
  touch('clock');
  return nowMs;
}

function random(): number {
  touch('random');
  if (waitingSeed !== null) {
    const seed = waitingSeed;
    waitingSeed = null;
    seedRandom(seed);
  }
  return (nextRandom() * 0x200000 + (nextRandom() >>> 11)) / 2 ** 53;
}

export function installDeterminism(): void {
  const steady = SteadyDate as unknown as DateConstructor;
  Object.defineProperty(steady, 'prototype', { value: RealDate.prototype, writable: false });
  Object.defineProperty(steady, 'name', { value: 'Date' });
  Object.defineProperty(steady, 'length', { value: 7 });
  const define = (object: object, name: string, value: unknown): void =>
    void Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
  define(steady, 'now', () => readClock());
  define(steady, 'parse', RealDate.parse);
  define(steady, 'UTC', RealDate.UTC);
  define(RealDate.prototype, 'constructor', steady);
  define(globalThis, 'Date', steady);
  define(Math, 'random', () => random());
  define(globalThis, 'performance', { now: () => 0, timeOrigin: 0 });
}
