/** The command line: hands the services to one file per command, and turns what they end with into an exit code. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { ConfigError, type Config } from '#runtime/config';
import { AppError } from '#runtime/errors';
import { ignoreInspectorSignal } from '#runtime/inspector-signal';
import { silentLogger } from '#runtime/logger';
import { addAccounts } from './cli/accounts.js';
import { addArchive, addDisk } from './cli/archive.js';
import { addAudit } from './cli/audit.js';
import { addBackup } from './cli/backup.js';
import { addBench } from './cli/bench.js';
import { addCheck } from './cli/check.js';
import { addConfiguration } from './cli/configuration.js';
import { addDemo } from './cli/demo.js';
import { addBrowsers } from './cli/browsers.js';
import { addEvaluators } from './cli/evaluators.js';
import { addKeys } from './cli/keys.js';
import { addMigrate } from './cli/migrate.js';
import { isInUse } from './cli/data-folder.js';
import type { MessagePreview } from '#contracts/message-preview';
import type { OpenViews, Product, TrialBench } from './cli/product.js';
import { addRebuild } from './cli/rebuild.js';
import { addSecretKey } from './cli/secret-key.js';
import { addStart } from './cli/start.js';
import { addTasks } from './cli/tasks.js';
import { addTestMail } from './cli/test-mail.js';
import { allowGoneReaders, exitCodes, plain, printJson, printNote, Refused } from './cli/terminal.js';
import { EventsAltered } from './integrity.js';
import { version } from './version.js';
import { ServerUnreachable } from './wait-for-server.js';

/** Whose key the secrets of a trial are sealed with. */
const trialOwner = 'trial';

/** The parts of the product on a folder of their own that is gone afterwards: a trial touches no installation. */
async function openTrialBench(config: Config): Promise<TrialBench> {
  const [
    { openPorts },
    { browserSupport },
    { checkSettings, createCodeChecker },
    { runTest },
    { systemClock, toTimestamp },
    { createIds },
    { testRunOf },
    sandbox,
    { trialNotifications },
    { createPreview },
    { createMessageBuilder },
    { linkBaseOf },
    { warningsOf },
  ] = await Promise.all([
    import('./composition.js'),
    import('./page-parts.js'),
    import('../gateway/check-settings.js'),
    import('../execution/test-task.js'),
    import('#runtime/clock'),
    import('#runtime/ids'),
    import('#contracts/run'),
    import('#sandbox/sandbox'),
    import('../gateway/preview-messages.js'),
    import('../delivery/preview.js'),
    import('../delivery/message-builder.js'),
    import('./left-address.js'),
    import('../gateway/task-warnings.js'),
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-check-'));
  const embedded = {
    eventStoreUrl: 'sqlite',
    busUrl: 'sqlite',
    readStoreUrl: 'sqlite',
    snapshotUrl: 'file',
    secretKey: null,
  } as const;
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const ports = await openPorts({ ...config, ...embedded, dataDir: folder }, silentLogger).catch(
    async (error: unknown) => {
      await remove();
      throw error;
    },
  );
  const limits = {
    ...sandbox.defaultSandboxLimits,
    cpuMs: config.evaluationCpuMs,
    memoryMb: config.evaluationMemoryMb,
  };
  const builder = createMessageBuilder(silentLogger);
  return {
    check: (input) =>
      checkSettings(
        {
          // Nothing is sent, so that the code can be tried before there is a mail server.
          config: {
            minIntervalSeconds: config.minIntervalSeconds,
            commands: config.commands,
            smtpUrl: config.smtpUrl ?? 'smtp://localhost',
          },
          outbound: ports.outbound,
          code: createCodeChecker(ports.sandbox),
          rendering: browserSupport(config),
        },
        input,
      ),
    run(input, codeForm) {
      const run = testRunOf(input, {
        runId: createIds().next('exe'),
        codeForm,
        queuedAt: toTimestamp(systemClock.now()),
      });
      return runTest({ ...ports, limits }, systemClock, run, trialOwner);
    },
    warnings: (input) => warningsOf(input),
    async messages(input, trial) {
      // Contacts are with the server; the report says which are left out.
      const parts = { vault: ports.vault, ids: createIds(), contactOf: async () => null };
      const made = await trialNotifications(parts, input, trial, trialOwner);
      const linkBase = linkBaseOf(config);
      const sending = { ...ports, builder, clock: systemClock, linkBase, mailFrom: config.mailFrom };
      const preview = createPreview({ ...sending, sandboxLimits: limits });
      const messages: MessagePreview[] = [];
      for (const notification of made) messages.push(await preview(notification, trialOwner));
      return messages;
    },
    async close() {
      await builder.close();
      await ports.close();
      await remove();
    },
  };
}

/** Each part is loaded when its command is called: `--help` loads none. */
const product: Product = {
  start: async () => (await import('./main.js')).start(),
  run: async (config, logger) => (await import('./main.js')).run(config, logger),
  openTrialBench,
  async createKey(config, input) {
    const [{ openPorts }, { resetRewoundViews }, { createKeyOffline }, { offlineKeyPorts }] = await Promise.all([
      import('./composition.js'),
      import('./projections.js'),
      import('../accounts/create-key.js'),
      import('./offline-accounts.js'),
    ]);
    const ports = await openPorts(config, silentLogger);
    try {
      await resetRewoundViews({ ...ports, logger: silentLogger });
      return await createKeyOffline(offlineKeyPorts(config, ports), input);
    } finally {
      await ports.close();
    }
  },
  viewNames: async () => (await import('./projections.js')).keptViews.map(({ name }) => name),
  openViews,
  verifyEvents: async (config, found) => (await import('./audit.js')).verifyStoredEvents(config, found),
  verifyBackup: async (...args) => (await import('./verify-backup.js')).verifyBackup(...args),
  acceptEvents: async (config) => (await import('./audit.js')).acceptStoredEvents(config),
  readArchivedDay: async (...args) => (await import('./archive-check.js')).readArchivedDay(...args),
  verifyArchive: async (...args) => (await import('./archive-check.js')).verifyArchive(...args),
  diskUsage: async (config) => (await import('./disk-usage.js')).diskUsage(config),
  exportAudit: async (...args) => (await import('./export-audit.js')).exportAudit(...args),
  stateAt: async (config, id, until) => (await import('./audit-log.js')).stateAt(config, id, until),
  backUp: async (...asked) => (await import('./backup.js')).backUp(...asked),
  restore: async (config, folder) => (await import('./backup.js')).restore(config, folder),
  holdBackRestored: async (config) => (await import('./backup.js')).holdBackRestored(config),
  rotateSecretKey: async (...args) => (await import('./rotate-secret-key.js')).rotateSecretKey(...args),
  sendTestMail: async (config, address) => (await import('./test-mail.js')).sendTestMail(config, address),
  printResetLinks: async (config, email) => (await import('./reset-password.js')).printResetLinks(config, email),
  migrate: async (request) => (await import('./migrate.js')).migrate(request),
  hostBrowsers: async (config) => (await import('./browsers.js')).hostBrowsers(config),
  hostEvaluators: async (config, folder) => (await import('./evaluators.js')).hostEvaluators(config, folder),
};

/**
 * Where the events are in a file only one process can open them. If that is the server, it keeps the views and this process
 * merely opens them beside it; if nobody has them, this process keeps the views as long as it needs them.
 */
async function openViews(config: Config): Promise<OpenViews> {
  const { openPorts, openReadStore, openSharedState } = await import('./composition.js');
  const ports =
    config.eventStoreUrl === 'sqlite'
      ? await openPorts(config, silentLogger, { backfillInWorker: true }).catch((error: unknown) => {
          if (!isInUse(error)) throw error;
          return null;
        })
      : null;
  if (ports === null) {
    const readStore = await openReadStore(config, silentLogger);
    return { sharedState: openSharedState(readStore), close: () => readStore.close() };
  }
  const { keptViews } = await import('./projections.js');
  const kept = keptViews.map((view) => view.keep({ ...ports, logger: silentLogger }));
  return {
    sharedState: ports.sharedState,
    async close() {
      await Promise.all(kept.map((work) => work.stop()));
      await ports.close();
    },
  };
}

function createProgram(end: (exitCode: number) => void): Command {
  const program = new Command('meerkat')
    .description('Watches web pages with your own code and tells you when it matters.')
    .version(
      `Meerkat ${version}, on Node.js ${process.versions.node}`,
      '--version',
      'print the version, and the Node.js it runs on',
    )
    .enablePositionalOptions()
    .exitOverride();
  addStart(program, product);
  addDemo(program, product);
  addCheck(program, product, end);
  addTasks(program, end);
  addConfiguration(program, end);
  addTestMail(program, product, end);
  addKeys(program, product);
  addAccounts(program, product);
  addRebuild(program, product, end);
  addAudit(program, product, end);
  addArchive(program, product, end);
  addDisk(program, product);
  addBackup(program, product, end);
  addSecretKey(program, product);
  addMigrate(program, product, end);
  addEvaluators(program, product);
  addBrowsers(program, product);
  addBench(program, end);
  return program;
}

/** What went wrong, in words; null for a defect of ours. */
function refusalOf(
  error: unknown,
): { readonly reason: string; readonly message: string; readonly details?: unknown } | null {
  if (error instanceof Refused) return { reason: error.reason, message: error.message };
  if (error instanceof ConfigError) return { reason: 'unusable_settings', message: error.message };
  if (error instanceof EventsAltered) return { reason: 'events_altered', message: error.message };
  if (error instanceof ServerUnreachable) return { reason: 'part_unreachable', message: error.message };
  if (!(error instanceof AppError)) return null;
  const { reason, message, details } = error;
  return { reason, message, ...(details === undefined ? {} : { details }) };
}

/** Runs one command. Resolves to the exit code: 0 done, 1 refused, 2 called in a way that there is not. */
export async function main(argv: readonly string[]): Promise<number> {
  ignoreInspectorSignal();
  allowGoneReaders();
  let exitCode: number = exitCodes.done;
  const program = createProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    const refusal = refusalOf(error);
    if (refusal === null) throw error;
    if (argv.includes('--json')) printJson({ error: refusal });
    else printNote(`${refusal.message.split('\n').map(plain).join('\n')}`);
    return error instanceof Refused ? error.exitCode : exitCodes.refused;
  }
}
