/** The audit beside the accounts: the view of all changes, and its signed heads. */
import type { Service } from '#eventing/service';
import { headSweep, signLastHeads, type HeadKeeping } from './sign-heads.js';
import { startAuditTrail, type AuditTrailDeps } from './trail.js';

export function withAudit(service: Service, deps: AuditTrailDeps & HeadKeeping): Service {
  return {
    ...service,
    background: [...(service.background ?? []), () => startAuditTrail(deps)],
    sweeps: [...(service.sweeps ?? []), headSweep(deps)],
    async closed() {
      await service.closed?.();
      await signLastHeads(deps);
    },
  };
}
