import { describe, expect, it } from '@jest/globals';
import { auditedNouns, nounOf, unauditedNouns } from '#contracts/audit';
import { eventCatalogue } from '#contracts/catalogue';

describe('the catalogue of events', () => {
  it('has no noun of which nobody has said whether it is a change that the audit tells', () => {
    const said = [...Object.keys(auditedNouns), ...unauditedNouns];
    expect(Object.keys(eventCatalogue).filter((type) => !said.includes(nounOf(type)))).toEqual([]);
  });
});
