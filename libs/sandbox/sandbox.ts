/** The sandbox port: the user's code meets a page, contained. Nothing here names the engine. */
import type { Json, JsonObject } from '#runtime/json';

/** How the code is read, decided once when it is saved (API contract, section 5). */
export const codeForms = ['function', 'body', 'script'] as const;
export type CodeForm = (typeof codeForms)[number];

export type CheckedCode =
  | { readonly ok: true; readonly form: CodeForm }
  | { readonly ok: false; readonly message: string; readonly line: number; readonly column: number };

export type ContentKind = 'html' | 'xml' | 'json' | 'text';

/** What the site's server proved with; `page.certificate` in the code, which adds the days that are left. */
export interface PageCertificate {
  /** RFC 3339. */
  readonly validTo: string;
  readonly issuer: string;
  readonly subject: string;
  /** SHA-256. */
  readonly fingerprint: string;
}

/** A loaded page as the code sees it. `body` is UTF-8, whatever the site's encoding was. */
export interface SandboxPage {
  readonly url: string;
  readonly finalUrl: string;
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of https; absent or null: there is none. */
  readonly certificate?: PageCertificate | null;
  readonly contentKind: ContentKind;
  /** A browser rendered it, and marked what was not shown. */
  readonly rendered?: true;
  readonly body: Uint8Array;
  /** Of the body. Where it is given, a page that comes again and again is not parsed again. */
  readonly contentHash?: string;
}

/** What the last recorded run reported; `page.previous` in the code. */
export interface PreviousRun {
  readonly outcome: boolean | null;
  readonly values: JsonObject;
  readonly text: string | null;
  readonly at: string;
}

export interface SandboxLimits {
  readonly cpuMs: number;
  readonly memoryMb: number;
  /** Logs and reported values together, bytes of UTF-8. */
  readonly outputBytes: number;
  /** `page.state` as JSON, bytes of UTF-8. */
  readonly stateBytes: number;
}

export const defaultSandboxLimits: SandboxLimits = {
  cpuMs: 1_000,
  memoryMb: 64,
  outputBytes: 65_536,
  stateBytes: 16_384,
};

export interface EvaluationJob {
  readonly code: string;
  readonly form: CodeForm;
  readonly page: SandboxPage;
  readonly previous: PreviousRun | null;
  readonly state: JsonObject;
  /** Seeds `Math.random()`. */
  readonly seed: string;
  /** What `Date.now()` starts from, milliseconds. */
  readonly nowMs: number;
  readonly limits: SandboxLimits;
}

/** A page that code is run on, and what differs with it between runs of the same code. */
export type CodeVisit = Pick<EvaluationJob, 'page' | 'seed' | 'nowMs'>;

/** The same code on several pages. */
export interface EvaluationBatch extends Omit<EvaluationJob, keyof CodeVisit> {
  readonly visits: readonly CodeVisit[];
}

export interface LogLine {
  readonly level: 'log' | 'info' | 'warn' | 'error' | 'debug';
  readonly message: string;
}

export const sandboxFailureReasons = [
  'syntax_error',
  'threw',
  'not_boolean',
  'number_not_found',
  'not_a_number',
  'not_rendered',
  'never_settled',
  'cpu_limit',
  'memory_limit',
  'stack_limit',
  'output_limit',
  'state_limit',
  'page_too_complex',
  'sandbox_crashed',
  'sandbox_unavailable',
] as const;
export type SandboxFailureReason = (typeof sandboxFailureReasons)[number];

/** A sentence for the user, and the place in the user's own code where it is known (both from 1). */
export interface SandboxFailure {
  readonly reason: SandboxFailureReason;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  /** It did not end by itself: the thread or the process that ran it had to be ended and replaced. */
  readonly endedFromOutside?: true;
  /** What to write instead, where the code shows it. */
  readonly hint?: string;
}

export interface SandboxTimings {
  readonly parseMs: number;
  readonly evaluateMs: number;
}

/**
 * What code can make use of besides the page's address, status and content. `previous_text` is separate from the rest
 * of `previous`: it is large and rarely used.
 */
export const touchable = ['state', 'previous', 'previous_text', 'headers', 'certificate', 'clock', 'random'] as const;
export type Touchable = (typeof touchable)[number];

/** What was logged and reported before a failure is kept. `state` is null where the run failed: the old one stays. */
export type EvaluationResult = {
  readonly values: JsonObject;
  readonly logs: readonly LogLine[];
  readonly timings: SandboxTimings;
  /** What the code read or wrote of these. Absent where it is not known, as where the run was ended from outside. */
  readonly touched?: readonly Touchable[];
} & (
  | { readonly ok: true; readonly outcome: boolean; readonly state: JsonObject }
  | { readonly ok: false; readonly failure: SandboxFailure }
);

/** Code of a `custom` action: `event` and `secrets` in scope, any JSON value comes back. */
export interface ScriptJob {
  readonly code: string;
  readonly form: CodeForm;
  readonly globals: { readonly [name: string]: Json };
  readonly seed: string;
  readonly nowMs: number;
  readonly limits: SandboxLimits;
}

export type ScriptResult = { readonly logs: readonly LogLine[] } & (
  { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly failure: SandboxFailure }
);

export interface Sandbox {
  /** Reads code without running it: its form, or the first syntax error with line and column (from 1) in the user's own text. */
  check(code: string): Promise<CheckedCode>;
  /**
   * Runs code against a page in a fresh, isolated sandbox. Never rejects for what the code or the page does. `isLong`: it took long
   * the last time, so where it has to be tried alone it delays no other such job.
   */
  evaluate(job: EvaluationJob, expected?: { readonly isLong: boolean }): Promise<EvaluationResult>;
  /** What `evaluate` answers for each of these pages, in their order, with less between them. Never rejects either. */
  evaluateAll(batch: EvaluationBatch): Promise<readonly EvaluationResult[]>;
  /** Runs an action's code without a page. Never rejects for what the code does. */
  runScript(job: ScriptJob): Promise<ScriptResult>;
  /** Ends every worker; jobs in flight answer `sandbox_unavailable`. */
  close(): Promise<void>;
}

export const SANDBOX = Symbol('Sandbox');
