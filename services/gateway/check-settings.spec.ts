import { describe, expect, it } from '@jest/globals';
import type { CheckedCode } from '#sandbox/sandbox';
import { createCodeChecker } from './check-settings.js';

describe('checking code', () => {
  it('reads the same code once, however many ask at once, and tells scopes apart', async () => {
    const asked: string[] = [];
    const checker = createCodeChecker({
      async check(code, scope): Promise<CheckedCode> {
        asked.push(`${scope} ${code}`);
        return { ok: true, form: 'body' };
      },
    });
    await Promise.all(Array.from({ length: 5 }, () => checker.check('return true', 'evaluation')));
    await checker.check('return true', 'evaluation');
    await checker.check('return true', 'action');
    expect(asked).toEqual(['evaluation return true', 'action return true']);
  });

  it('asks again after the sandbox was not there', async () => {
    let broken = true;
    const checker = createCodeChecker({
      async check(): Promise<CheckedCode> {
        if (broken) throw new Error('no worker');
        return { ok: true, form: 'script' };
      },
    });
    await expect(checker.check('1', 'evaluation')).rejects.toMatchObject({ reason: 'sandbox_unavailable' });
    broken = false;
    await expect(checker.check('1', 'evaluation')).resolves.toEqual({ ok: true, form: 'script' });
  });

  it('forgets the oldest when it remembers many', async () => {
    let asked = 0;
    const checker = createCodeChecker({
      async check(): Promise<CheckedCode> {
        asked += 1;
        return { ok: true, form: 'body' };
      },
    });
    for (let i = 0; i <= 1_000; i += 1) await checker.check(String(i), 'evaluation');
    await checker.check('1000', 'evaluation');
    expect(asked).toBe(1_001);
    await checker.check('0', 'evaluation');
    expect(asked).toBe(1_002);
  });
});
