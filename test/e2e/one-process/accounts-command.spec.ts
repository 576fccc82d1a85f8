/** `meerkat accounts`: helps people in again while the server goes on. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { embeddedInstallation, type EmbeddedInstallation } from '../kit/embedded.js';
import { ownerEmail } from '../kit/installation.js';
import { signIn, tokenOf } from '../kit/people.js';

let installation: EmbeddedInstallation;

beforeAll(async () => {
  installation = await embeddedInstallation();
  await installation.start();
});
afterAll(() => installation.remove());

const newPassword = 'another horse battery staple';

describe('meerkat accounts reset-password', () => {
  it('prints a link that sets a new password, once, while the server runs', async () => {
    const { exitCode, out } = await installation.command(['accounts', 'reset-password', ownerEmail.toUpperCase()]);
    expect([exitCode, out.trim()]).toEqual([0, expect.stringMatching(/\/password-resets\/[\w.-]+$/)]);
    // Its port is known to the server alone, which took a free one.
    expect(new URL(out.trim()).origin).toBe(new URL(installation.url).origin);
    const path = `/api/password-resets/${tokenOf(out.trim())}`;
    const set = () => installation.api.send(path, { json: { newPassword }, key: null });
    expect((await set()).status).toBe(200);
    expect((await set()).status).toBe(404);
    await signIn(installation, { password: newPassword });
    // Nobody knows who used it: on record is that the operator made it.
    const audit = await installation.api.send('/api/audit?type=member.password_changed');
    expect(audit.body).toMatchObject({ data: [{ actor: 'system:cli' }] });
    expect(audit.text).toContain('printed_link');
  });

  it('names an address that nobody has', async () => {
    const { exitCode, error } = await installation.command(['accounts', 'reset-password', 'nobody@example.com']);
    expect([exitCode, error]).toEqual([1, expect.stringContaining('No account has this e-mail address.')]);
    const json = await installation.command(['accounts', 'reset-password', 'nobody@example.com', '--json']);
    expect(JSON.parse(json.out)).toMatchObject({ error: { reason: 'not_found' } });
  });
});
