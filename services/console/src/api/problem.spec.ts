import { describe, expect, it } from '@jest/globals';
import { furtherDetails } from './problem.js';

const detail = (field: string, message: string, more: object = {}) => ({ field, message, rule: 'invalid', ...more });

describe('what stands below the sentence of a refusal', () => {
  it('is nothing where the sentence says it', () => {
    const details = [detail('email', 'must be an e-mail address')];
    expect(furtherDetails({ message: 'email must be an e-mail address.', details })).toEqual([]);
  });

  it('is each fault that the sentence does not say, and each place in code', () => {
    const details = [
      detail('name', 'must be given'),
      detail('url', 'must be an address'),
      detail('evaluationFunction', 'has an error', { line: 3, column: 1 }),
    ];
    expect(furtherDetails({ message: 'name must be given.', details })).toEqual(details.slice(1));
    expect(furtherDetails({ message: 'evaluationFunction has an error.', details: details.slice(2) })).toEqual(
      details.slice(2),
    );
  });
});
