/** One thread's sandbox: parses a page, runs code on it in a fresh guest, reads the answer. The worker calls it. */
import { isJsonObject } from '#runtime/json';
import type { Json } from '#runtime/json';
import { checkCode, codeFileName, faultOf, runnableCode } from '../code/code-forms.js';
import type { Compiles } from '../code/code-forms.js';
import { CpuDeadline } from '../guest/deadline.js';
import { explained } from '../code/explain.js';
import { evalFlags, GuestMemoryExhausted, GuestTampered } from '../guest/engine.js';
import type { Engine, GuestInput, GuestOutcome, GuestValue } from '../guest/engine.js';
import { isCompileTimeStack, readGuestResult } from '../guest/guest-result.js';
import type { FlatPage } from '../parsers/flat-page.js';
import type { GuestResult } from '../guest/guest-result.js';
import { Guests } from '../guest/guest.js';
import type { Guest, GuestEntry, GuestImage } from '../guest/guest.js';
import { batchMs, concludeMs } from './messages.js';
import { answerLimitsOf, excessOf } from './results.js';
import { defaultPageLimits, markupNamespaces, PageTooComplex } from '../parsers/page-parser.js';
import type { PageLimits, PageParser, ParsedPage } from '../parsers/page-parser.js';
import { defaultSandboxLimits } from '../sandbox.js';
import type {
  CheckedCode,
  CodeForm,
  EvaluationBatch,
  EvaluationJob,
  EvaluationResult,
  SandboxFailure,
  SandboxFailureReason,
  ScriptJob,
  ScriptResult,
} from '../sandbox.js';
import { parseXmlDocument, parseXmlFragment } from '../parsers/xml-page-parser.js';

/** Which part of a job runs, `parsing` being all that precedes the code; the pool's watchdog reads it from outside. */
export type Phase = 'parsing' | 'running' | 'concluding';

const compileMemoryMb = 64;
/** Compiling leaves names behind in the engine; its memory is put back now and then. */
const compilesBetweenRestores = 64;
const jobsPerRound = 256;
const tampered: SandboxFailure = {
  reason: 'threw',
  message: 'The code broke the built-ins that its result is written with.',
};
const memoryFailure: SandboxFailure = {
  reason: 'memory_limit',
  message: 'The code used more memory than its limit allows.',
};
const mebibyte = 1024 * 1024;

interface Run {
  readonly code: string;
  readonly form: CodeForm;
  readonly source: string;
  readonly isAsyncScript: boolean;
  readonly open: 'openPage' | 'openScript';
  readonly settings: string;
  /** The page that the guest has yet to read; null where it has read it, or there is none. */
  readonly page: PageToRead | null;
  readonly cpuMs: number;
}

interface PageToRead {
  /** Identifies the page if it comes again; null: it is not kept. */
  readonly key: string | null;
  readonly inputs: readonly GuestInput[];
}

/** Everything that the tables depend on; the memory limit is part of it, as a guest is made for one limit. */
function keyOf({ page, limits }: EvaluationJob): string | null {
  const { contentHash, contentKind, headers } = page;
  if (contentHash === undefined) return null;
  return [contentHash, contentKind, limits.memoryMb, headers['content-type'] ?? ''].join(' ');
}

function inputsOf({ flat, text }: ParsedPage): readonly GuestInput[] {
  const tables = new Uint8Array(flat.tables.buffer, flat.tables.byteOffset, flat.tables.byteLength);
  return [tables, flat.text, flat.values, flat.names, flat.classes, flat.ids, text];
}

function failed(
  reason: SandboxFailureReason,
  message: string,
  kept?: GuestResult,
): GuestResult & { readonly ok: false } {
  const { values = {}, logs = [] } = kept ?? {};
  return { ok: false, values, logs, failure: { reason, message } };
}

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';
const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/';

/** Two prefixes and their namespaces are XML's own; attributes that the code sets may say otherwise. */
function isBindable([prefix, namespace]: readonly [string, string]): boolean {
  if (prefix === 'xml') return namespace === xmlNamespace;
  return prefix !== 'xmlns' && namespace !== xmlNamespace && namespace !== xmlnsNamespace;
}

function byteLengthOf(input: GuestInput): number {
  if (typeof input === 'string') return input.length * 2;
  return 'isWide' in input ? input.bytes.byteLength : input.byteLength;
}

/** The guest counts while the code runs; code that changed what it counts with gets no further than here. */
function isWithinLimits(result: EvaluationResult | ScriptResult, job: EvaluationJob | ScriptJob): boolean {
  return excessOf(result, answerLimitsOf(job)) === null;
}

function overCpuLimit(result: GuestResult): GuestResult {
  const { line, column } = result.ok ? {} : result.failure;
  const place = line === undefined || column === undefined ? {} : { line, column };
  const { values, logs } = result;
  const message = 'The code used more CPU time than its limit allows.';
  return { ok: false, values, logs, failure: { reason: 'cpu_limit', message, ...place } };
}

export class SandboxCore {
  readonly #guests: Guests;
  readonly #parser: PageParser;
  readonly #enter: (phase: Phase) => void;
  readonly #deadline = new CpuDeadline();
  #compiler: Engine | null = null;
  #compileCount = 0;

  constructor(
    wasmModule: WebAssembly.Module,
    parser: PageParser,
    enter: (phase: Phase) => void,
    image: GuestImage | null,
  ) {
    this.#guests = new Guests(wasmModule, (texts) => this.#parseMarkup(texts), image);
    this.#parser = parser;
    this.#enter = enter;
  }

  /** Prepares for a first job; resolves to the image, so that other threads need not make their own. */
  prepare(): Promise<GuestImage> {
    return this.#guests.prepare(defaultSandboxLimits.memoryMb);
  }

  /** One after the other; results in the same order. */
  async checkAll(codes: readonly string[]): Promise<readonly CheckedCode[]> {
    const answers: CheckedCode[] = [];
    for (const code of codes) answers.push(await this.check(code));
    return answers;
  }

  async check(code: string): Promise<CheckedCode> {
    this.#enter('parsing');
    const compiles = await this.#compiling();
    this.#enter('running');
    try {
      return checkCode(code, compiles);
    } catch {
      // Out of memory, or an engine that broke: either way the code asked too much of the parser.
      this.#compiler = null;
      return { ok: false, message: 'The code is too large or too deeply nested to be read.', line: 1, column: 1 };
    }
  }

  async evaluate(job: EvaluationJob): Promise<EvaluationResult> {
    const result = await this.#evaluate(job);
    if (isWithinLimits(result, job)) return result;
    return { ok: false, values: {}, logs: [], timings: result.timings, failure: tampered };
  }

  /** One after the other, each in a guest of its own; the results of the first ones where it takes long. */
  async evaluateAll({ visits, ...shared }: EvaluationBatch): Promise<readonly EvaluationResult[]> {
    const endsAtMs = performance.now() + batchMs;
    const results: EvaluationResult[] = [];
    for (const visit of visits) {
      results.push(await this.evaluate({ ...shared, ...visit }));
      if (performance.now() > endsAtMs) break;
    }
    return results;
  }

  async runScript(job: ScriptJob): Promise<ScriptResult> {
    const result = await this.#runScript(job);
    return isWithinLimits(result, job) ? result : { ok: false, logs: [], failure: tampered };
  }

  async #evaluate(job: EvaluationJob): Promise<EvaluationResult> {
    const startedMs = performance.now();
    this.#enter('parsing');
    const key = keyOf(job);
    const known = key === null ? null : this.#guests.withPage(key);
    let toRead: PageToRead | null = null;
    try {
      if (known === null) {
        toRead = {
          key,
          inputs: inputsOf(this.#parser.parsePage(job.page.body, job.page.contentKind, defaultPageLimits)),
        };
      }
    } catch (thrown) {
      const timings = { parseMs: performance.now() - startedMs, evaluateMs: 0 };
      if (!(thrown instanceof PageTooComplex)) throw thrown;
      return { ...failed('page_too_complex', thrown.message), timings };
    }
    const parsedMs = performance.now();
    const { page, limits } = job;
    const settings = {
      url: page.url,
      finalUrl: page.finalUrl,
      status: page.status,
      headers: page.headers,
      certificate: page.certificate ?? null,
      contentKind: page.contentKind,
      rendered: page.rendered === true,
      previous: job.previous,
      state: job.state,
      form: job.form,
      seed: job.seed,
      nowMs: job.nowMs,
      outputBytes: limits.outputBytes,
      stateBytes: limits.stateBytes,
    };
    const result = await this.#run(job, { open: 'openPage', settings: JSON.stringify(settings), page: toRead }, known);
    const timings = { parseMs: parsedMs - startedMs, evaluateMs: performance.now() - parsedMs };
    const { values, logs } = result;
    const touched = result.touched === undefined ? {} : { touched: result.touched };
    if (!result.ok) return { ok: false, values, logs, timings, ...touched, failure: result.failure };
    const { outcome, state } = result.answer;
    if (typeof outcome !== 'boolean' || !isJsonObject(state)) {
      return { ...failed(tampered.reason, tampered.message, result), timings };
    }
    return { ok: true, values, logs, timings, ...touched, outcome, state };
  }

  async #runScript(job: ScriptJob): Promise<ScriptResult> {
    this.#enter('parsing');
    const settings = {
      globals: job.globals,
      form: job.form,
      seed: job.seed,
      nowMs: job.nowMs,
      outputBytes: job.limits.outputBytes,
      stateBytes: job.limits.stateBytes,
    };
    const result = await this.#run(job, { open: 'openScript', settings: JSON.stringify(settings), page: null }, null);
    if (!result.ok) return { ok: false, logs: result.logs, failure: result.failure };
    return { ok: true, logs: result.logs, value: result.answer['value'] as Json };
  }

  async #run(
    job: EvaluationJob | ScriptJob,
    given: Pick<Run, 'open' | 'settings' | 'page'>,
    known: Guest | null,
  ): Promise<GuestResult> {
    const inputBytes = (given.page?.inputs ?? []).reduce((sum, input) => sum + byteLengthOf(input), 0);
    // A large page must not use up the code's memory: its share is added to the limit.
    const extraMb = inputBytes * 2 < (job.limits.memoryMb * mebibyte) / 4 ? 0 : Math.ceil((inputBytes * 2) / mebibyte);
    const compiles = await this.#compiling();
    const guest = known ?? (await this.#guests.fresh(job.limits.memoryMb + extraMb));
    const discard = (): void => {
      this.#guests.discard();
      this.#compiler = null;
    };
    try {
      const runnable = runnableCode(job.code, job.form, compiles);
      const run: Run = { ...runnable, ...given, code: job.code, form: job.form, cpuMs: job.limits.cpuMs };
      return this.#runIn(guest, run, discard);
    } catch (thrown) {
      discard();
      if (thrown instanceof GuestMemoryExhausted) {
        return failed('memory_limit', 'The page and the code need more memory than the limit allows.');
      }
      if (thrown instanceof GuestTampered) {
        return failed('threw', 'The code broke the built-ins that markup is read with.');
      }
      if (thrown instanceof RangeError) return failed('stack_limit', 'The code called itself too deeply.');
      if (thrown instanceof WebAssembly.RuntimeError) {
        return failed('memory_limit', 'The code brought its sandbox to an end; the likely cause is its use of memory.');
      }
      throw thrown;
    }
  }

  /**
   * Markup that code wrote, with the name and namespace of its context, or nothing for a document of HTML: tables and
   * texts, or one text that says what is wrong with it. Runs in the middle of the code, on the code's time.
   */
  #parseMarkup([markup = '', tag = '', namespace = '']: readonly string[]): readonly GuestInput[] {
    const parseMs = Math.min(defaultPageLimits.parseMs, Math.max(1, this.#deadline.leftMs()));
    try {
      const flat = this.#flatMarkup(markup, tag, namespace, { ...defaultPageLimits, parseMs });
      if (flat === null) return ['The markup is not well-formed XML.'];
      const { tables, text, values, names } = flat;
      return [new Uint8Array(tables.buffer, tables.byteOffset, tables.byteLength), text, values, names];
    } catch (thrown) {
      if (thrown instanceof PageTooComplex) return [`The markup ${thrown.fault}.`];
      throw thrown;
    } finally {
      // Time that is up ends the run, whatever the code makes of an exception that comes from it.
      this.#deadline.check();
    }
  }

  /** Null where XML is asked for and it is none. */
  #flatMarkup(markup: string, tag: string, namespace: string, limits: PageLimits): FlatPage | null {
    if (namespace === 'xml') return parseXmlDocument(markup, limits);
    // Prefixes and namespaces in turn, the way the prelude wrote them.
    if (namespace === 'xml fragment') {
      const around = tag.split('\0');
      const pairs = around.flatMap((prefix, at) => (at % 2 === 0 ? [[prefix, around[at + 1] ?? ''] as const] : []));
      if (!pairs.every(isBindable)) return null;
      return parseXmlFragment(markup, Object.fromEntries(pairs), limits);
    }
    const space = markupNamespaces.find((name) => name === namespace);
    return this.#parser.parseMarkup(markup, space === undefined ? null : { tag, namespace: space }, limits);
  }

  /** A separate engine, in which code is compiled and never run. */
  async #compiling(): Promise<Compiles> {
    const engine = this.#compiler ?? (await this.#guests.another(compileMemoryMb)).engine;
    this.#compiler = engine;
    return (source, isAsync) => {
      this.#compileCount += 1;
      if (this.#compileCount % compilesBetweenRestores === 0) engine.restore();
      const flags = evalFlags.compileOnly | (isAsync ? evalFlags.asyncGlobal : evalFlags.global);
      const compiled = engine.eval(source, codeFileName, flags);
      engine.free(compiled.ok ? compiled.value : compiled.thrown);
      return compiled.ok;
    };
  }

  #runIn({ engine, entry }: Guest, run: Run, discard: () => void): GuestResult {
    const deadline = this.#deadline;
    // What came before, the making of an instance included, is not the code's time.
    this.#enter('running');
    deadline.start(run.cpuMs);
    engine.interruptWhen(() => deadline.check());
    const opened = this.#open({ engine, entry }, run);
    if (!opened) {
      discard();
      const reason = deadline.isOver ? 'cpu_limit' : 'memory_limit';
      return failed(reason, 'The page needs more than the limits of the sandbox allow.');
    }
    const flags = run.isAsyncScript ? evalFlags.asyncGlobal : evalFlags.global;
    const evaluated = engine.eval(run.source, codeFileName, flags);
    const concluded = evaluated.ok
      ? engine.call(run.isAsyncScript ? entry.concludeAwaited : entry.conclude, evaluated.value)
      : evaluated;
    const outcome = this.#settle({ engine, entry }, concluded);
    return this.#read({ engine, entry }, outcome, evaluated.ok, run, discard);
  }

  /** Passes the guest its page and settings. False where that exceeds its memory or time. */
  #open({ engine, entry }: Guest, { page, open, settings, cpuMs }: Run): boolean {
    const pass = (to: GuestValue, inputs: readonly GuestInput[]): boolean => {
      const parts = engine.decode(inputs);
      return parts.ok && engine.call(to, parts.value).ok;
    };
    if (page !== null) {
      if (!pass(entry.loadPage, page.inputs)) return false;
      if (page.key !== null && this.#guests.keepPage(page.key)) {
        // The image is for those that come after; its time is not the code's.
        this.#enter('running');
        this.#deadline.start(cpuMs);
      }
    }
    return pass(entry[open], [settings]);
  }

  /** Runs pending promise jobs until there is an answer or nothing is left to run. */
  #settle({ engine, entry }: Guest, concluded: GuestOutcome): GuestOutcome {
    let outcome = concluded;
    while (outcome.ok && !engine.isString(outcome.value)) {
      if (this.#deadline.check()) return outcome;
      if (!engine.runJobs(jobsPerRound)) return engine.call(entry.neverSettled);
      outcome = engine.call(entry.settled);
    }
    return outcome;
  }

  #read(
    { engine, entry }: Guest,
    outcome: GuestOutcome,
    didEvaluate: boolean,
    { code, form }: Run,
    discard: () => void,
  ): GuestResult {
    const isOver = this.#deadline.isOver;
    if (isOver) {
      this.#enter('concluding');
      this.#deadline.start(concludeMs);
    }
    const answer = outcome.ok ? this.#orNeverSettled(engine, entry, outcome) : engine.call(entry.fail, outcome.thrown);
    const text = this.#textOf(engine, answer);
    const result =
      text === null ? failed('threw', 'The code threw something that cannot be described.') : readGuestResult(text);
    if (isOver || (text === null && this.#deadline.isOver)) return overCpuLimit(result);
    if (result.ok) return result;
    const { values, logs } = result;
    // Out of memory, the engine throws null where it has no room left for an error.
    const isMemory = result.failure.reason === 'threw' && engine.isMemoryUsedUp;
    const failure: SandboxFailure = isMemory ? memoryFailure : result.failure;
    if (text === null || failure.reason === 'memory_limit' || failure.reason === 'stack_limit') discard();
    const isSyntaxError = !didEvaluate && failure.reason === 'threw' && isCompileTimeStack(result.stack ?? '');
    // Saying why is no time of the code's.
    this.#enter('running');
    const known = isSyntaxError
      ? { reason: 'syntax_error' as const, ...faultOf(code) }
      : explained(failure, code, form, result.stack ?? '');
    return {
      ok: false,
      values,
      logs,
      ...(result.touched === undefined ? {} : { touched: result.touched }),
      failure: known,
    };
  }

  /** Where time ran out between two jobs there is no answer yet: what was logged is asked for. */
  #orNeverSettled(engine: Engine, entry: GuestEntry, outcome: GuestOutcome & { ok: true }): GuestOutcome {
    return engine.isString(outcome.value) ? outcome : engine.call(entry.neverSettled);
  }

  #textOf(engine: Engine, answer: GuestOutcome): string | null {
    return answer.ok && engine.isString(answer.value) ? engine.text(answer.value) : null;
  }
}
