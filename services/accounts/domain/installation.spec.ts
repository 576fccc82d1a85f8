import { describe, expect, it } from '@jest/globals';
import { given } from '#eventing/given';
import { installationDecider, type InstallationEvent } from './installation.js';

const opened: InstallationEvent = { type: 'installation.opened', data: { salt: 's1' } };
const claimed: InstallationEvent = {
  type: 'installation.claimed',
  data: { organizationId: 'org_1', ownerId: 'usr_1' },
};
const chosen = (keyId: string, hash: string): InstallationEvent => ({
  type: 'installation.owner_key_chosen',
  data: { keyId, hash },
});

describe('an installation', () => {
  it('keeps the first salt, so that a printed link outlives restarts', () => {
    given(installationDecider).when({ type: 'openInstallation', salt: 's1' }).then(opened).andAgainNothing();
    given(installationDecider, opened).when({ type: 'openInstallation', salt: 's2' }).thenNothing();
  });

  it('prints no link any more once it is claimed from the environment', () => {
    given(installationDecider, claimed).when({ type: 'openInstallation', salt: 's1' }).thenNothing();
  });

  it('is claimed once, with or without a link', () => {
    const claim = { type: 'claimInstallation', organizationId: 'org_1', ownerId: 'usr_1' } as const;
    given(installationDecider).when(claim).then(claimed).andAgainNothing();
    given(installationDecider, opened).when(claim).then(claimed).andAgainNothing();
    given(installationDecider, claimed)
      .when({ ...claim, organizationId: 'org_2' })
      .thenNothing();
  });

  it('takes an owner key once it is claimed, the same one once', () => {
    const choose = { type: 'chooseOwnerKey', keyId: 'key_1', hash: 'h1' } as const;
    given(installationDecider).when(choose).thenRejected('not_set_up');
    given(installationDecider, claimed).when(choose).then(chosen('key_1', 'h1')).andAgainNothing();
    given(installationDecider, claimed, chosen('key_1', 'h1'))
      .when({ ...choose, keyId: 'key_2' })
      .thenNothing();
  });

  it('keeps the id of every owner key that was replaced, one that comes back included', () => {
    const state = [claimed, chosen('key_1', 'h1'), chosen('key_2', 'h2'), chosen('key_3', 'h1')].reduce(
      (current, event) => installationDecider.evolve(current, event),
      installationDecider.initial,
    );
    expect(state.ownerKey).toEqual({ keyId: 'key_3', hash: 'h1' });
    expect(state.formerOwnerKeyIds).toEqual(['key_1', 'key_2']);
  });
});
