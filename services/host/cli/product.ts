/** What commands need of the product. cli.ts loads it once a command needs it: `--help` loads nothing of it. */
import type { MailAnswer } from '#channels/channel';
import type { AuditEntry, ChainVerdict } from '#contracts/audit';
import type { CreatedKey, KeyInput } from '#contracts/account';
import type { MessagePreview } from '#contracts/message-preview';
import type { TestExecution } from '#contracts/run';
import type { TaskInput } from '#contracts/task';
import type { SharedState } from '#shared-state/shared-state';
import type { Config } from '#runtime/config';
import type { Json } from '#runtime/json';
import type { Logger } from '#runtime/logger';
import type { CodeForm } from '#sandbox/sandbox';
import type { TaskWarning } from '../../gateway/task-warnings.js';

export interface RunningProduct {
  readonly url: string | null;
  stop(): Promise<void>;
}

export interface TrialBench {
  /** The form of the code. Rejects with the `AppError` that saving the task would answer. */
  check(input: TaskInput): Promise<CodeForm>;
  /** Loads the page and runs the code. Nothing is stored or sent. */
  run(input: TaskInput, form: CodeForm): Promise<TestExecution>;
  /** What the settings leave silent, as saving them answers. */
  warnings(input: TaskInput): readonly TaskWarning[];
  /** The messages of the actions that listen, as they would be sent. */
  messages(input: TaskInput, trial: TestExecution): Promise<readonly MessagePreview[]>;
  close(): Promise<void>;
}

/** The views of an installation, and somebody who keeps them: its server, or this process where none runs. */
export interface OpenViews {
  readonly sharedState: SharedState;
  close(): Promise<void>;
}

export interface MigrationProgress {
  /** `copy`: what is there already is compared, what is not is written. `verify`: read back, and made into views. */
  readonly phase: 'copy' | 'verify';
  /** Of this phase, from 0 to 1. */
  readonly share: number;
  /** Events that this phase has come through. */
  readonly events: number;
}

export interface MigrationRequest {
  /** Settings of either side; of the source its event store alone is used. */
  readonly source: Config;
  readonly target: Config;
  show(progress: MigrationProgress): void;
  /** Something that the person who waits should know. */
  note(text: string): void;
}

export interface Migrated {
  /** As they may be shown. */
  readonly from: string;
  readonly to: string;
  readonly viewsAt: string;
  readonly events: number;
  readonly streams: number;
  /** SHA-256 over all of them, the same at both sides. */
  readonly hash: string;
  /** How many events were written; the others were there already. */
  readonly copied: number;
  readonly copyMs: number;
  readonly verifyMs: number;
  readonly views: readonly { readonly view: string; readonly error: string | null }[];
}

/** A stored event that is not as it was written. */
export interface AuditFault {
  readonly what: 'altered' | 'unsigned' | 'missing';
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly type: string;
  /** The same as a sentence. */
  readonly text: string;
}

export interface Audited {
  readonly events: number;
  /** Those with a MAC; the others were stored by a version that made none. */
  readonly signed: number;
}

export interface AuditedLog extends Audited {
  /** Why the newest events may be gone without a trace; empty: nothing speaks for it. */
  readonly warnings: readonly string[];
}

export type ExportedEntry = AuditEntry & { readonly organizationId: string };

export interface AuditExport {
  /** An address of syslog, or a file; null: printed. */
  readonly target: string | null;
  /** Where it is kept which entry was handed over last; null: nowhere, all are handed over. */
  readonly cursorFile: string | null;
  /** Entries from then on. */
  readonly since?: string;
  /** Goes on as changes come, until the signal. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
  lineOf(entry: ExportedEntry): string;
  print(lines: readonly string[]): Promise<void>;
  /** Something that the person who waits should know. */
  note(text: string): void;
}

export interface VerifiedBackup extends Audited {
  readonly createdAt: string;
  /** The chain of each organisation's changes. */
  readonly audit: readonly (ChainVerdict & { readonly organizationId: string })[];
}

/** For an account of the address. */
export interface ResetLink {
  readonly organization: string;
  readonly url: string;
}

/** A file of the archive that is not as the record of its day says. */
export interface ArchiveFault {
  readonly what: 'gone' | 'damaged' | 'differs';
  readonly task: string;
  readonly day: string;
  /** In the archive. */
  readonly file: string;
}

export interface ArchiveChecked {
  /** Days that were archived, by task and kind. */
  readonly days: number;
  /** Days that were folded while no archive was set. */
  readonly unarchived: number;
  /** Of tasks that were purged since: what is left of them nobody can read, and nothing says what it was. */
  readonly purged: number;
}

export interface DiskUsage {
  readonly databases: readonly { readonly name: string; readonly bytes: number }[];
  readonly events: readonly { readonly type: string; readonly count: number; readonly bytes: number }[];
  /** The largest ones; the name is null where the task is not there any more. */
  readonly tasks: readonly { readonly id: string; readonly name: string | null; readonly bytes: number }[];
  /** What can be folded then; null: nothing is folded, or it has not begun. */
  readonly folding: { readonly nextAt: string | null; readonly bytes: number };
}

export interface BackedUp {
  readonly folder: string;
  readonly createdAt: string;
  readonly lastPosition: number | null;
  readonly bytes: number;
  readonly files: number;
  /** Of the files, until the backup was whole. */
  readonly tookMs: number;
  /** Until its events were held against their MACs. */
  readonly verifiedMs: number;
}

export interface Restored {
  readonly dataDir: string;
  /** When the backup was made. */
  readonly createdAt: string;
  readonly lastPosition: number | null;
  /** Deliveries that were not over then: none of them is sent by itself. */
  readonly heldBack: number;
  readonly tookMs: number;
}

export type HeldBack = Pick<Restored, 'heldBack' | 'tookMs'>;

export interface RotatedKey {
  /** Keys of owners that were sealed anew, and all that there are. */
  readonly resealed: number;
  readonly owners: number;
  /** null: in the data folder. */
  readonly keyFile: string | null;
  /** A rotation that was cut off before was ended. */
  readonly wasBegun: boolean;
}

export interface Product {
  /** Runs until a signal and ends the process itself. */
  start(): Promise<void>;
  run(config: Config, logger: Logger): Promise<RunningProduct>;
  openTrialBench(config: Config): Promise<TrialBench>;
  /** Makes a key while no server runs. Rejects with `ConfigError` where one does. */
  createKey(config: Config, input: Pick<KeyInput, 'name' | 'scopes'>): Promise<CreatedKey>;
  /** Names of the views that are made of events. */
  viewNames(): Promise<readonly string[]>;
  openViews(config: Config): Promise<OpenViews>;
  /** Holds every event against its MAC; a server may run meanwhile. Rejects with `ConfigError` where it cannot be done. */
  verifyEvents(config: Config, found: (fault: AuditFault) => void): Promise<AuditedLog>;
  /** A backup, with no installation. `headsFile`: signed heads that were kept elsewhere. Rejects with `Refused` or `ConfigError`. */
  verifyBackup(
    config: Config,
    folder: string,
    headsFile: string | null,
    found: (fault: AuditFault) => void,
  ): Promise<VerifiedBackup>;
  /** Puts on record that the faults there are now are known. Rejects with `ConfigError` where a server runs on the folder. */
  acceptEvents(config: Config): Promise<readonly AuditFault[]>;
  /** Each event of an archived day as JSON. Rejects with `not_archived`, `ConfigError`. */
  readArchivedDay(config: Config, taskId: string, day: string, print: (line: string) => void): Promise<void>;
  /** `taskId` null: of all tasks. */
  verifyArchive(config: Config, taskId: string | null, found: (fault: ArchiveFault) => void): Promise<ArchiveChecked>;
  diskUsage(config: Config): Promise<DiskUsage>;
  /**
   * Hands every change over, oldest first, made of the events alone; a server may run meanwhile. Resolves with their number.
   * Rejects with `Refused` or `ConfigError`.
   */
  exportAudit(config: Config, request: AuditExport): Promise<number>;
  /** What the id stood for at the time; null: it was not there. */
  stateAt(config: Config, id: string, until: string): Promise<Json>;
  /**
   * A server may run meanwhile. Calls `found` for each event in the backup that is not as it was written: it is made all the same.
   * Rejects with `Refused`, or `ConfigError` where the key is another one.
   */
  backUp(config: Config, folder: string, withKey: boolean, found: (fault: AuditFault) => void): Promise<BackedUp>;
  /** Rejects with `Refused` where the data folder is not empty or the backup not whole. */
  restore(config: Config, folder: string): Promise<Restored>;
  /** For servers that were put back by their own tools, before any process starts. Rejects with `Refused`. */
  holdBackRestored(config: Config): Promise<HeldBack>;
  /**
   * For stopped processes; run again it goes on where it was cut off. `keyFile`: where the new key stands, or is to; null: in the data
   * folder, as the one before it. Rejects with `Refused` or `ConfigError`.
   */
  rotateSecretKey(config: Config, keyFile: string | null): Promise<RotatedKey>;
  /** What the mail server made of one mail. Rejects with `ConfigError` where there is none. */
  sendTestMail(config: Config, address: string): Promise<MailAnswer>;
  /** A server may run meanwhile. Rejects with `not_found` or `ConfigError`. */
  printResetLinks(config: Config, email: string): Promise<readonly ResetLink[]>;
  /** Rejects with `Refused`, `ConfigError`, or an `AppError` that says why not. */
  migrate(request: MigrationRequest): Promise<Migrated>;
  /** Rejects where the sockets cannot be made in the folder. */
  hostEvaluators(config: Config, folder: string): Promise<{ close(): Promise<void> }>;
  /** Rejects where none is installed here, or it cannot listen. */
  hostBrowsers(config: Config): Promise<{ readonly url: string; close(): Promise<void> }>;
}
