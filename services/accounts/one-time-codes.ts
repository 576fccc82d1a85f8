/** Codes of a second factor: those of an app, by time (RFC 6238), and recovery codes. otpauth makes and checks the former. */
import { createHmac, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

const stepMs = 30_000;
/** Steps before and after the present one: clocks differ. */
const stepsAround = 1;
const recoveryCodes = 10;
const recoveryBytes = 8;
const letters = '0123456789abcdefghjkmnpqrstvwxyz';

const period = stepMs / 1_000;

export const newSecret = (): string => new Secret({ size: 20 }).base32;

export function otpauthUrl(secret: string, issuer: string, account: string): string {
  return new TOTP({ issuer, label: account, secret: Secret.fromBase32(secret), period }).toString();
}

/** The step that the code is of; null: of none that counts now. */
export function stepOfCode(secret: string, code: string, nowMs: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const at = { token: code, secret: Secret.fromBase32(secret), period, timestamp: nowMs, window: stepsAround };
  const delta = TOTP.validate(at);
  return delta === null ? null : Math.floor(nowMs / stepMs) + delta;
}

/** The code of a step does not count any more from then on. */
export const endOfStepMs = (step: number): number => (step + stepsAround + 1) * stepMs;

/** Ten codes of 80 random bits, as `4k2m-…`. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: recoveryCodes }, () => {
    const text = [...randomBytes(2 * recoveryBytes)].map((byte) => letters[byte % letters.length]).join('');
    return text.replace(/(.{4})(?=.)/g, '$1-');
  });
}

/** Spaces, dashes and case are passed over, as people copy them. */
export function hashRecoveryCode(code: string, memberId: string, pepper: Uint8Array): string {
  const plain = code.toLowerCase().replace(/[^0-9a-z]/g, '');
  return createHmac('sha256', pepper).update(`recovery|${memberId}|${plain}`).digest('base64url');
}
