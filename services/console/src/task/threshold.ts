/** The number that a condition compares the reported value with, where its sentence or the code's last line says it. Pure. */
import { readSentence, type Comparison } from '../new/sentence.js';

export interface Threshold {
  readonly value: number;
  readonly compare: Comparison;
}

const byOperator: Readonly<Record<string, Comparison>> = {
  '<': 'below',
  '>': 'above',
  '<=': 'atMost',
  '>=': 'atLeast',
  '===': 'exactly',
};

const reported = /page\.report\(\s*(['"`])value\1\s*,\s*([\w$.]+)\s*\)/;
const lastLine = /return\s+([\w$.]+)\s*(<=|>=|===|<|>)\s*(-?\d+(?:\.\d+)?)\s*;?\s*$/;

/** Code by hand says it plainly where it ends by comparing what it reported as `value` with a number. */
function ofCode(code: string): Threshold | null {
  const name = reported.exec(code)?.[2];
  const found = lastLine.exec(code.trim());
  if (found === null || name === undefined || found[1] !== name) return null;
  return { value: Number(found[3]), compare: byOperator[found[2] ?? ''] ?? 'below' };
}

export function thresholdOf(code: string): Threshold | null {
  const sentence = readSentence(code);
  switch (sentence?.kind) {
    case undefined:
      return ofCode(code);
    case 'number':
    case 'json':
      return { value: sentence.limit, compare: sentence.compare };
    case 'count':
      return { value: sentence.count, compare: sentence.isMore ? 'above' : 'below' };
    case 'certificate':
      return { value: sentence.days, compare: 'below' };
    default:
      return null;
  }
}
