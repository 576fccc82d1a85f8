/** The snapshots port: pages as they were evaluated, kept for a while, each content once per organisation. */
import type { ServerCertificate } from '#outbound/certificates';
import type { ContentKind } from '#sandbox/sandbox';

/** What is known of a page besides its content: all of it that code could see, and what the next load may ask with. */
export interface Snapshot {
  /** `snp_…` */
  readonly id: string;
  readonly organizationId: string;
  readonly taskId: string;
  /** The settings it was loaded with: those of another revision may ask for another page. */
  readonly taskRevision: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly takenAt: string;
  readonly url: string;
  readonly finalUrl: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Of https; absent in snapshots of before it was kept, and where there is none. */
  readonly certificate?: ServerCertificate;
  readonly contentKind: ContentKind;
  /** A browser rendered it; absent: it is as the site sent it. */
  readonly rendered?: true;
  /** A screenshot (PNG) of a page, kept beside the pages and never listed; absent: a page. */
  readonly isScreenshot?: true;
  readonly encoding: string;
  /** `sha256:` and the hexadecimal digest of the content, which is UTF-8. */
  readonly contentHash: string;
  readonly bytes: number;
  /** Over all of the above (`snapshot-macs.ts`); absent in snapshots of before there was one. */
  readonly mac?: string;
  /** Never stored: it came without a MAC, so anybody who can write where it is kept may have made it. */
  readonly isUnproven?: true;
}

export interface KeptPage {
  readonly snapshot: Snapshot;
  readonly body: Uint8Array;
}

/** What is let go: more than `keepCount` of one task, the oldest first, and all that is older than `keepDays`. */
export interface Retention {
  readonly keepCount: number;
  readonly keepDays: number;
}

/** Those taken before a time, but for some. */
export interface OlderSnapshots {
  readonly takenBefore: string;
  readonly except: readonly string[];
}

export interface Snapshots {
  /**
   * Keeps a page, and lets go of what its task has too many of, perhaps not at each save: a store may have a tenth more
   * than may be kept, and lists none of them. Once it resolves the page outlives this process; the same
   * id again changes nothing. Rejects with `snapshots_unavailable` where it cannot be kept now.
   */
  save(snapshot: Snapshot, body: Uint8Array): Promise<void>;
  /** The newest ones of a task, the newest first. */
  list(taskId: string, limit: number): Promise<readonly Snapshot[]>;
  /** null: the task has none of that id any more, or what is stored of it is damaged. */
  read(taskId: string, id: string): Promise<KeptPage | null>;
  /** Lets a task's go: all of them, or older ones. */
  forget(taskId: string, older?: OlderSnapshots): Promise<void>;
  /** Lets go what is too old at `nowMs`, and contents that a crash left without a snapshot. Returns how many snapshots went. */
  sweep(nowMs: number): Promise<number>;
  close(): Promise<void>;
}

export const SNAPSHOTS = Symbol('Snapshots');

/** What a run has on record of its page. */
export interface PageOfRun {
  readonly organizationId: string;
  readonly taskId: string;
  readonly snapshotId: string | null;
  readonly contentHash: string | null;
}

/** The screenshot (PNG) of a run's page; null where there is none. */
export async function readScreenshotOfRun(
  snapshots: Pick<Snapshots, 'read'>,
  run: { readonly organizationId: string; readonly taskId: string; readonly screenshotId: string | null },
): Promise<KeptPage | null> {
  const found = run.screenshotId === null ? null : await snapshots.read(run.taskId, run.screenshotId);
  if (found?.snapshot.isScreenshot !== true || found.snapshot.isUnproven === true) return null;
  return found.snapshot.organizationId === run.organizationId ? found : null;
}

/** The page that a run was made on; null where it is not kept any more, or is another than the run has on record. */
export async function readPageOfRun(
  snapshots: Pick<Snapshots, 'read'>,
  { organizationId, taskId, snapshotId, contentHash }: PageOfRun,
): Promise<KeptPage | null> {
  const page = snapshotId === null ? null : await snapshots.read(taskId, snapshotId);
  if (page === null || page.snapshot.isScreenshot === true) return null;
  if (page.snapshot.organizationId !== organizationId) return null;
  return contentHash === null || contentHash === page.snapshot.contentHash ? page : null;
}

const dayMs = 86_400_000;

/** Snapshots taken before this time are too old. */
export function keptSince(nowMs: number, { keepDays }: Retention): string {
  return new Date(nowMs - keepDays * dayMs).toISOString();
}
