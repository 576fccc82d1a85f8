/** Parts of settings that several of them share: how their values are written, and where they may stand. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, { error: `must be a whole number from ${min} to ${max}` })
    .transform(Number)
    .pipe(
      z
        .number()
        .min(min, { error: `must be at least ${min}` })
        .max(max, { error: `must be at most ${max}` }),
    );

function hasCredentials(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username + url.password !== '';
}

export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

export const address = (schemes: readonly string[], example: string) =>
  z.string().refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1)), {
    error: `must be an address such as ${example}`,
  });

/** Of what nobody signs in to, or of what is shown to people: a password inside would be of no use, or for everybody. */
export const openAddress = (schemes: readonly string[], example: string) =>
  address(schemes, example).refine((value) => !hasCredentials(value), {
    error: 'must not hold a user name or password',
  });

export type Environment = Readonly<Record<string, string | undefined>>;

/** `NAME_FILE` names a file that holds the value of NAME: how secrets are handed over without an environment variable. */
export function withFiles(
  names: readonly string[],
  environment: Environment,
  faults: string[],
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of names) {
    const plain = environment[name];
    const file = environment[`${name}_FILE`];
    if (plain !== undefined && plain !== '') values[name] = plain;
    if (file === undefined || file === '') continue;
    if (values[name] !== undefined) faults.push(`${name}: is set twice, by ${name} and by ${name}_FILE; keep one.`);
    try {
      const content = readFileSync(file, 'utf8').trim();
      if (content !== '') values[name] = content;
    } catch {
      faults.push(`${name}_FILE: the file ${file} cannot be read.`);
    }
  }
  return values;
}
