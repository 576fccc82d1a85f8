/** A second factor: begun with the password, turned on by a first code, asked for when its member signs in. */
import { hostname } from 'node:os';
import type { BegunSecondFactor, SecondFactor } from '#contracts/member';
import { AppError, reject } from '#runtime/errors';
import { claimOnce, type Claim } from '#shared-state/claim-once';
import type { StateCollection } from '#shared-state/shared-state';
import { isSealed, type Sealed } from '#vault/vault';
import { changeOrganization } from './change-organization.js';
import type { FoundMember } from './find-member.js';
import { openEmail } from './member-email.js';
import {
  endOfStepMs,
  hashRecoveryCode,
  newRecoveryCodes,
  newSecret,
  otpauthUrl,
  stepOfCode,
} from './one-time-codes.js';
import type { AccountPorts, Asking } from './ports.js';

/** Steps whose code was used: over all processes, so that none takes it twice. */
export const usedCodesCollection: StateCollection<Claim> = { name: 'used_codes', indexedBy: 'expiresAtMs' };

const scopeOf = (memberId: string): string => `member/${memberId}`;

async function sealSecret(ports: AccountPorts, { member, organization }: FoundMember, secret: string): Promise<Sealed> {
  const { secret: sealed } = await ports.vault.seal(organization.id, scopeOf(member.id), { secret }, ['secret']);
  if (!isSealed(sealed)) throw new Error('the vault left a secret in clear');
  return { $sealed: sealed.$sealed };
}

async function openSecret(ports: AccountPorts, { member, organization }: FoundMember, sealed: Sealed): Promise<string> {
  const { secret } = await ports.vault.open(organization.id, scopeOf(member.id), { secret: { ...sealed } });
  return typeof secret === 'string' ? secret : '';
}

const wrongCode = (): AppError =>
  reject('wrong_code', 'The code is wrong, or was used before.', [
    { field: 'code', rule: 'wrong', message: 'is wrong, or was used before' },
  ]);

/** Of the app alone. Whether the code is right and was not used before: then it is used. */
async function takeAppCode(ports: AccountPorts, found: FoundMember, code: string): Promise<boolean> {
  const { secondFactor, id } = found.member;
  if (secondFactor.state === 'off') return false;
  const step = stepOfCode(await openSecret(ports, found, secondFactor.secret), code, ports.clock.now());
  if (step === null) return false;
  return claimOnce(ports.sharedState, usedCodesCollection, `${id}.${step}`, endOfStepMs(step));
}

async function takeRecoveryCode(
  ports: AccountPorts,
  { member, organization }: FoundMember,
  code: string,
  requestId: string,
): Promise<boolean> {
  const hash = hashRecoveryCode(code, member.id, ports.pepper);
  if (member.secondFactor.state === 'off' || !member.secondFactor.recoveryHashes.includes(hash)) return false;
  try {
    const command = { type: 'useRecoveryCode', memberId: member.id, hash } as const;
    await changeOrganization(ports, organization.id, command, { actor: `user:${member.id}`, requestId });
    return true;
  } catch (error) {
    if (error instanceof AppError && error.reason === 'wrong_code') return false;
    throw error;
  }
}

/** Whether the code is right and was not used before: then it is used. Rejects with `too_many_attempts`. */
export async function checkCode(
  ports: AccountPorts,
  found: FoundMember,
  code: string,
  requestId: string,
): Promise<boolean> {
  const { id } = found.member;
  await ports.attempts.beginCode(id);
  const isRight =
    (await takeAppCode(ports, found, code.replace(/\s/g, ''))) ||
    (await takeRecoveryCode(ports, found, code, requestId));
  if (isRight) await ports.attempts.codeSucceeded(id);
  return isRight;
}

export function showSecondFactor({ secondFactor }: Pick<FoundMember['member'], 'secondFactor'>): SecondFactor {
  if (secondFactor.state === 'off') return { state: 'off', recoveryCodesLeft: 0 };
  return { state: secondFactor.state, recoveryCodesLeft: secondFactor.recoveryHashes.length };
}

/** Again before it is on: with another secret. Rejects with `second_factor_on`. */
export async function beginSecondFactor(
  ports: AccountPorts,
  found: FoundMember,
  asking: Asking,
): Promise<{ readonly begun: BegunSecondFactor; readonly position: number | null }> {
  const { member, organization } = found;
  const secret = newSecret();
  const recoveryCodes = [...newRecoveryCodes()];
  const recoveryHashes = recoveryCodes.map((code) => hashRecoveryCode(code, member.id, ports.pepper));
  const sealed = await sealSecret(ports, found, secret);
  const command = { type: 'beginSecondFactor', memberId: member.id, secret: sealed, recoveryHashes } as const;
  const { position } = await changeOrganization(ports, organization.id, command, asking);
  const email = await openEmail(ports.vault, organization.id, member.id, member.email);
  const issuer = `Meerkat ${await issuerName(ports)}`;
  return {
    begun: { state: 'pending', secret, otpauthUrl: otpauthUrl(secret, issuer, email), recoveryCodes },
    position,
  };
}

async function issuerName({ address }: AccountPorts): Promise<string> {
  const url = await address.baseUrl();
  return URL.canParse(url) ? new URL(url).hostname : hostname();
}

/** Turns it on. Rejects with `wrong_code` and `second_factor_off`. */
export async function confirmSecondFactor(
  ports: AccountPorts,
  found: FoundMember,
  code: string,
  asking: Asking,
): Promise<number | null> {
  const { member, organization } = found;
  if (member.secondFactor.state === 'off') {
    throw reject('second_factor_off', 'No second factor was begun: begin one first.');
  }
  await ports.attempts.beginCode(member.id);
  if (!(await takeAppCode(ports, found, code.replace(/\s/g, '')))) throw wrongCode();
  await ports.attempts.codeSucceeded(member.id);
  const command = { type: 'confirmSecondFactor', memberId: member.id } as const;
  return (await changeOrganization(ports, organization.id, command, asking)).position;
}

/** Turns it off, for who has it. Rejects with `wrong_code`. */
export async function removeSecondFactor(
  ports: AccountPorts,
  found: FoundMember,
  code: string,
  asking: Asking,
): Promise<number | null> {
  const { member, organization } = found;
  if (member.secondFactor.state === 'on' && !(await checkCode(ports, found, code, asking.requestId))) throw wrongCode();
  const command = { type: 'removeSecondFactor', memberId: member.id } as const;
  return (await changeOrganization(ports, organization.id, command, asking)).position;
}
