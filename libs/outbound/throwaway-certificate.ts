/** A certificate that nobody vouches for, made for one process: of its key nothing is written anywhere. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';

/** X.509 is written in DER (X.690): a tag, a length, and what it holds. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const held = Buffer.concat(parts);
  const length = held.length;
  const long = length < 0x80 ? [] : length < 0x1_00 ? [0x81] : [0x82, length >> 8];
  return Buffer.concat([Buffer.from([tag, ...long, length & 0xff]), held]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const time = (text: string): Buffer => der(0x18, Buffer.from(text));

const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'));
const commonName = identifier('550403');

/** Signed by itself; its times say nothing, as the one who takes it does not judge it. */
export function createThrowawayContext(name: string): SecureContext {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const version3 = der(0xa0, der(0x02, Buffer.of(2)));
  const serial = der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)]));
  const subject = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(name)))));
  const validity = sequence(time('20200101000000Z'), time('20991231235959Z'));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const body = sequence(version3, serial, ecdsaWithSha256, subject, validity, subject, spki);
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, Buffer.of(0), signature));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return createSecureContext({
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  });
}
