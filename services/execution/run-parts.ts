/** What the modules whose service carries out runs have in common: the parts of a run, and those of runs that are tried. */
import type { Provider } from '@nestjs/common';
import { SERVICE_PORTS, type ServicePorts } from '#eventing/service-ports';
import { PAGE_LOADER, type PageLoader } from '#page-loader/page-loader';
import { CONFIG, type Config } from '#runtime/config';
import { SANDBOX, type Sandbox } from '#sandbox/sandbox';
import { SNAPSHOTS, type Snapshots } from '#snapshots/snapshots';
import { VAULT, type Vault } from '#vault/vault';
import { CHECKS, createPageDeps, type Checks } from './checks.js';
import { RUN_DEPS, type RunDeps } from './run.js';
import { createTestRuns, TEST_RUNS } from './test-task.js';

export const runParts: Provider[] = [
  {
    provide: RUN_DEPS,
    inject: [SERVICE_PORTS, PAGE_LOADER, SANDBOX, SNAPSHOTS, VAULT, CHECKS, CONFIG],
    useFactory: (
      ports: ServicePorts,
      pageLoader: PageLoader,
      sandbox: Sandbox,
      snapshots: Snapshots,
      vault: Vault,
      checks: Checks | null,
      config: Config,
    ): RunDeps & ServicePorts => {
      const pageDeps = createPageDeps({ ...ports, pageLoader, sandbox, snapshots }, config);
      return { ...ports, ...pageDeps, vault, checks };
    },
  },
  { provide: TEST_RUNS, inject: [RUN_DEPS], useFactory: createTestRuns },
];
