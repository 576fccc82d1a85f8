import { describe, expect, it } from '@jest/globals';
import type { CheckedCode } from '#sandbox/sandbox';
import { createCodeChecker } from './check-settings.js';

describe('checking code', () => {
  it('a code checker reads the same code once, however many requests check it at once', async () => {
    const asked: string[] = [];
    const checker = createCodeChecker({
      async check(code): Promise<CheckedCode> {
        asked.push(code);
        return { ok: true, form: 'body' };
      },
    });
    await Promise.all(Array.from({ length: 5 }, () => checker.check('return true')));
    await checker.check('return true');
    expect(asked).toEqual(['return true']);
  });

  it('asks again after the sandbox was not there', async () => {
    let broken = true;
    const checker = createCodeChecker({
      async check(): Promise<CheckedCode> {
        if (broken) throw new Error('no worker');
        return { ok: true, form: 'script' };
      },
    });
    await expect(checker.check('1')).rejects.toMatchObject({ reason: 'sandbox_unavailable' });
    broken = false;
    await expect(checker.check('1')).resolves.toEqual({ ok: true, form: 'script' });
  });

  it('forgets the oldest when it remembers many', async () => {
    let asked = 0;
    const checker = createCodeChecker({
      async check(): Promise<CheckedCode> {
        asked += 1;
        return { ok: true, form: 'body' };
      },
    });
    for (let i = 0; i <= 1_000; i += 1) await checker.check(String(i));
    await checker.check('1000');
    expect(asked).toBe(1_001);
    await checker.check('0');
    expect(asked).toBe(1_002);
  });
});
