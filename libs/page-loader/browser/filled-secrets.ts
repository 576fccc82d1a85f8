/** What steps fill in as secrets stays out of what a visit leaves: addresses that forms make of it, messages, fields, pictures. */
import { secretMask } from '#runtime/secret-mask';
import type { PageStep } from '../page-loader.js';

type SecretFill = Extract<PageStep, { readonly selector: string; readonly value: string }>;

export function secretFills(steps: readonly PageStep[]): readonly SecretFill[] {
  return steps.filter((step): step is SecretFill => step.do === 'fill' && step.isSecret && step.value !== '');
}

/** A shorter one is found in any sentence. */
const shortestInText = 4;

export interface FilledSecrets {
  readonly values: readonly string[];
  inAddress(address: string): string;
  inText(text: string): string;
}

export function filledSecrets(steps: readonly PageStep[]): FilledSecrets {
  const values = secretFills(steps).map(({ value }) => value);
  const written = values
    .filter(({ length }) => length >= shortestInText)
    .flatMap((value) => [value, encodeURIComponent(value), new URLSearchParams({ '': value }).toString().slice(1)]);
  return {
    values,
    inAddress(address) {
      const url = URL.parse(address);
      const query = [...(url?.searchParams ?? [])];
      if (url === null || !query.some(([, value]) => values.includes(value))) return address;
      const masked = new URLSearchParams();
      for (const [name, value] of query) masked.append(name, values.includes(value) ? secretMask : value);
      url.search = masked.toString();
      return url.href;
    },
    inText: (text) => written.reduce((masked, value) => masked.replaceAll(value, secretMask), text),
  };
}
