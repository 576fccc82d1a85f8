/** Pages behind certificates: what is trusted by the task, what by the instance, and what code sees of them. */
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { serveHttps, testCertificate, type Loopback } from '#outbound/loopback.contract';
import { errorOf, type Reply } from './kit/api.js';
import { createInstallation } from './kit/create-installation.js';
import type { Installation } from './kit/installation.js';

const shown = new X509Certificate(testCertificate).fingerprint256;
const tried = z.object({
  data: z.object({
    outcome: z.boolean().nullable(),
    values: z.record(z.string(), z.unknown()),
    error: z.object({ reason: z.string(), message: z.string(), hint: z.string() }).nullable(),
  }),
});

let site: Loopback;
let folder: string;
let cautious: Installation;
let trusting: Installation;

beforeAll(async () => {
  site = await serveHttps((_request, response) => response.setHeader('content-type', 'text/html').end('<p>in stock'));
  folder = await mkdtemp(join(tmpdir(), 'meerkat-authorities-'));
  const file = join(folder, 'authorities.pem');
  await writeFile(file, testCertificate);
  cautious = await createInstallation();
  trusting = await createInstallation({ settings: { EGRESS_CA_FILE: file } });
  await Promise.all([cautious.start(), trusting.start()]);
});

afterAll(async () => {
  await Promise.all([cautious.remove(), trusting.remove()]);
  await site.close();
  await rm(folder, { recursive: true, force: true });
});

const code = `const { validTo, daysLeft, subject, issuer, fingerprint } = page.certificate;
  page.report('seen', { validTo, subject, issuer, fingerprint }); return daysLeft > 0;`;

const send = ({ api }: Installation, fetch: object): Promise<Reply> =>
  api.send('/api/notifications/test', {
    method: 'POST',
    json: { name: 'Stock', url: site.origin, evaluationFunction: code, schedule: { type: 'manual' }, fetch },
  });

const attempt = async (installation: Installation, fetch: object = {}) =>
  tried.parse((await send(installation, fetch)).body).data;

describe('a certificate that nobody vouches for', () => {
  it('fails the run with the settings that would take it', async () => {
    const { error } = await attempt(cautious);
    expect(error?.reason).toBe('tls_failed');
    expect(error?.hint).toContain('fetch.tls');
    expect(error?.hint).toContain('EGRESS_CA_FILE');
  });

  it.each([
    ['its authority', { ca: testCertificate }],
    ['its fingerprint', { fingerprint: shown }],
    ['both', { ca: testCertificate, fingerprint: shown.replaceAll(':', '') }],
  ])('is taken where fetch.tls names %s, and shown to the code', async (_, tls) => {
    const { outcome, values, error } = await attempt(cautious, { tls });
    expect([outcome, error]).toEqual([true, null]);
    const names = { subject: 'CN=localhost', issuer: 'CN=localhost' };
    expect(values['seen']).toEqual({ validTo: '2099-12-31T23:59:59.000Z', ...names, fingerprint: shown });
  });

  it('is not taken where fetch.tls names another one', async () => {
    const fingerprint = shown.replace(/^../, shown.startsWith('00') ? '01' : '00');
    const { error } = await attempt(cautious, { tls: { fingerprint } });
    expect([error?.reason, error?.message]).toEqual(['tls_failed', expect.stringContaining(shown)]);
  });

  it('is taken everywhere where the operator names its authority', async () => {
    expect((await attempt(trusting)).outcome).toBe(true);
  });

  it('is on record with the page, so that a replay sees the same', async () => {
    const { api } = cautious;
    const settings = { name: 'Stock', url: site.origin, evaluationFunction: code, schedule: { type: 'manual' } };
    const { id } = await api.create({ ...settings, fetch: { tls: { fingerprint: shown } } });
    const run = await api.execute(id, 30);
    expect(run.outcome).toBe(true);
    const replayed = await api.send(`/api/executions/${run.id}/replay`, { method: 'POST', json: {} });
    expect(replayed.body).toMatchObject({ data: { same: true } });
  });
});

describe('settings of TLS', () => {
  it.each([
    [{ ca: 'no certificate' }, 'fetch.tls.ca'],
    [{ ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }, 'fetch.tls.ca'],
    [{ fingerprint: 'AB:CD' }, 'fetch.tls.fingerprint'],
    [{ fingerprint: `${shown}:AB` }, 'fetch.tls.fingerprint'],
    [{}, 'fetch.tls'],
    [{ fingerprint: shown, insecure: true }, 'fetch.tls.insecure'],
  ])('%j are refused by name', async (tls, field) => {
    const reply = await send(cautious, { tls });
    expect([reply.status, errorOf(reply).details?.map((detail) => detail.field)]).toEqual([400, [field]]);
  });
});
