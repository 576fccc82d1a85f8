/** Checks as a part of their own: done here, or in the thread where pages are loaded. */
import { availableParallelism } from 'node:os';
import { createFairSlots } from '#concurrency/fair-slots';
import type { PageLoader } from '#page-loader/page-loader';
import type { Clock } from '#runtime/clock';
import type { Config } from '#runtime/config';
import type { Logger } from '#runtime/logger';
import { defaultSandboxLimits, type Sandbox, type SandboxLimits } from '#sandbox/sandbox';
import type { Snapshots } from '#snapshots/snapshots';
import { KnownResults } from './known-results.js';
import { LongEvaluations } from './long-evaluations.js';
import type { CheckResult, OpenedCheck, PageDeps } from './run-check.js';

export interface Checks {
  /** As `runCheck`. Rejects too where the thread that did it has ended: then the run is tried again. */
  run(check: OpenedCheck, stopping: AbortSignal): Promise<CheckResult>;
}

/** null where checks are done here. */
export const CHECKS = Symbol('Checks');

export function evaluationLimits({
  evaluationCpuMs: cpuMs,
  evaluationMemoryMb: memoryMb,
}: Pick<Config, 'evaluationCpuMs' | 'evaluationMemoryMb'>): SandboxLimits {
  return { ...defaultSandboxLimits, cpuMs, memoryMb };
}

export interface PagePorts {
  readonly pageLoader: PageLoader;
  readonly sandbox: Sandbox;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What checks have in common. */
export function createPageDeps(parts: PagePorts, config: Config): PageDeps {
  const { executionConcurrency } = config;
  // A quarter more than one organisation may hold: there is always a slot for another.
  const slots = createFairSlots({
    slots: executionConcurrency + Math.ceil(executionConcurrency / 4),
    shares: { organization: executionConcurrency, longOfOrganization: Math.ceil(executionConcurrency / 2) },
  });
  const longEvaluations = new LongEvaluations(availableParallelism());
  return { ...parts, slots, longEvaluations, limits: evaluationLimits(config), knownResults: new KnownResults() };
}
