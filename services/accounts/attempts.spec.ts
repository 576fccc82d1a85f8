import { describe, expect, it } from '@jest/globals';
import { createAttempts } from './attempts.js';

function setup() {
  const time = { ms: 0 };
  return { time, attempts: createAttempts({ now: () => time.ms }) };
}

const refusal = expect.objectContaining({ code: 'RATE_LIMITED', reason: 'too_many_attempts' });

describe('wrong passwords', () => {
  it('are ten per account, wherever they come from', () => {
    const { time, attempts } = setup();
    for (let i = 0; i < 10; i += 1) attempts.begin('account', `10.0.0.${i}`);
    time.ms = 60_000;
    expect(() => attempts.begin('account', '10.0.0.99')).toThrow(
      expect.objectContaining({ reason: 'too_many_attempts', retryAfterSeconds: 14 * 60 }),
    );
    attempts.begin('another', '10.0.0.99');
  });

  it('are ten per address, whoever they are for', () => {
    const { attempts } = setup();
    for (let i = 0; i < 10; i += 1) attempts.begin(`account${i}`, 'here');
    expect(() => attempts.begin('account99', 'here')).toThrow(refusal);
    attempts.begin('account99', 'there');
  });

  it('are forgotten after 15 minutes', () => {
    const { time, attempts } = setup();
    for (let i = 0; i < 10; i += 1) attempts.begin('account', 'here');
    time.ms = 15 * 60_000 - 1;
    expect(() => attempts.begin('account', 'here')).toThrow(refusal);
    time.ms += 1;
    attempts.begin('account', 'here');
  });

  it('start anew for an account after the right one, and not for the address', () => {
    const { attempts } = setup();
    for (let i = 0; i < 9; i += 1) attempts.begin('victim', 'here');
    attempts.begin('own', 'here');
    attempts.succeeded('own', 'here');
    attempts.begin('own', 'here');
    expect(() => attempts.begin('own', 'here')).toThrow(refusal);
    attempts.begin('victim', 'there');
    expect(() => attempts.begin('victim', 'elsewhere')).toThrow(refusal);
  });

  it('are not counted where nobody could look', () => {
    const { attempts } = setup();
    for (let i = 0; i < 50; i += 1) {
      attempts.begin('account', 'here');
      attempts.abandoned('account', 'here');
    }
    for (let i = 0; i < 10; i += 1) attempts.begin('account', 'here');
    expect(() => attempts.begin('account', 'here')).toThrow(refusal);
  });

  it('take a bounded amount of memory', () => {
    const { attempts } = setup();
    for (let i = 0; i < 60_000; i += 1) attempts.begin(`account${i}`, `address${i}`);
    attempts.begin('account0', 'address0');
  });
});
