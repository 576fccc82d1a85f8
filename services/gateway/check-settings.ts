/** What a task's schema cannot know: this installation's limits, addresses that are never reached, code and templates that do not parse. */
import { createHash } from 'node:crypto';
import { declarationOf, type ActionType } from '#channels/declarations';
import type { TaskInput } from '#contracts/task';
import { refuse } from '#http/validation';
import type { Outbound } from '#outbound/outbound';
import type { BrowserSupport } from '#page-loader/page-loader';
import type { Config } from '#runtime/config';
import { separatorFault, type BehindHost } from '#runtime/address-credentials';
import { reject, unavailable, type AppError } from '#runtime/errors';
import { secretMask } from '#runtime/secret-mask';
import type { CheckedCode, CodeForm, Sandbox } from '#sandbox/sandbox';
import { checkTemplate } from '#templates/templates';
import { isJsonObject } from '#runtime/json';
import { fieldPath } from '#http/field-path';
import { checkSchedule } from './check-schedule.js';

type Action = TaskInput['actions'][number];
type Field = readonly PropertyKey[];

/** Code that was checked lately need not be read again: many tasks share one function. */
const rememberedChecks = 1_000;
/** Code up to here is its own key; longer code is remembered by its hash, so that memory stays bounded. */
const shortCode = 1_000;

export interface CodeChecker {
  check(code: string): Promise<CheckedCode>;
}

export function createCodeChecker(sandbox: Pick<Sandbox, 'check'>): CodeChecker {
  const known = new Map<string, Promise<CheckedCode>>();
  return {
    async check(code) {
      const key = code.length <= shortCode ? code : createHash('sha256').update(code).digest('base64');
      const remembered = known.get(key);
      if (remembered !== undefined) return remembered;
      // The promise itself is kept: many requests with one new function at once are one check.
      const checking = sandbox.check(code).catch((error: unknown) => {
        known.delete(key);
        throw unavailable('sandbox_unavailable', 'The code cannot be checked right now; try again.', 5, error);
      });
      if (known.size >= rememberedChecks) known.delete(known.keys().next().value ?? '');
      known.set(key, checking);
      return checking;
    },
  };
}

export interface SettingsChecks {
  readonly config: Pick<Config, 'minIntervalSeconds' | 'smtpUrl' | 'commands'>;
  readonly outbound: Pick<Outbound, 'refusalOf'>;
  readonly code: CodeChecker;
  readonly rendering: BrowserSupport;
}

/** A fault in text of the user's own, with its place. */
function misread(
  field: Field,
  reason: string,
  { message, line, column }: { readonly message: string; readonly line: number; readonly column: number },
): AppError {
  const name = fieldPath(field);
  return reject(reason, `${name} cannot be read: ${message} (line ${line}, column ${column}).`, [
    { field: name, rule: reason, message, line, column },
  ]);
}

function checkAddress({ outbound }: Pick<SettingsChecks, 'outbound'>, field: Field, url: string): void {
  const refusal = outbound.refusalOf(url);
  if (refusal !== null)
    throw reject('address_denied', refusal, [{ field: fieldPath(field), rule: 'address_denied', message: refusal }]);
}

/** One that may hold a user name and a password, which are sent as a header; where they go is what counts. */
function checkCredentialed(
  checks: Pick<SettingsChecks, 'outbound'>,
  field: Field,
  url: string,
  behind: BehindHost,
): void {
  const fault = separatorFault(url, behind);
  if (fault !== null) throw refuse(field, 'invalid', fault);
  checkAddress(checks, field, withoutCredentials(url));
}

function withoutCredentials(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

function checkText(field: Field, template: string): void {
  const checked = checkTemplate(template);
  if (!checked.ok) throw misread(field, checked.reason, checked);
}

/** Throws where the code cannot be read, with the place in it. */
export async function checkCode(checker: CodeChecker, field: Field, code: string): Promise<CodeForm> {
  const checked = await checker.check(code);
  if (!checked.ok) throw misread(field, 'syntax_error', checked);
  return checked.form;
}

/** Throws the first fault of what the channel declares of its settings. */
export async function checkAction(checks: SettingsChecks, action: Action, field: Field): Promise<void> {
  const { digestSeconds, afterSeconds } = action;
  if (digestSeconds > 0 && afterSeconds > 0) {
    const problem = 'must be 0 where afterSeconds is set: what is sent later only if it still holds is not gathered';
    throw refuse([...field, 'digestSeconds'], 'invalid', problem);
  }
  // A contact was checked when it was saved.
  if (action.type === undefined) return;
  await checkConfig(checks, action, field);
}

/** Of an action or a contact. Throws the first fault of what the channel declares of its settings. */
export async function checkConfig(
  checks: SettingsChecks,
  { type, config }: { readonly type: ActionType; readonly config: object },
  field: Field,
): Promise<void> {
  const { needs, addresses, templates, code, programs } = declarationOf(type);
  const members = new Map<string, unknown>(Object.entries(config));
  const textsAt = (names: readonly string[]) =>
    names.flatMap((name) => {
      const text = members.get(name);
      if (typeof text === 'string') return [{ place: [...field, 'config', name], text }];
      // Each member of an object, such as the headers.
      return Object.entries(isJsonObject(text) ? text : {}).flatMap(([key, inner]) =>
        typeof inner === 'string' ? [{ place: [...field, 'config', name, key], text: inner }] : [],
      );
    });
  if (needs === 'smtp' && checks.config.smtpUrl === null) {
    throw refuse(
      field,
      'smtp_not_configured',
      'needs a mail server: set SMTP_URL on this instance',
      'smtp_not_configured',
    );
  }
  const [program] = programs;
  if (program !== undefined && !checks.config.commands.includes(String(members.get(program)))) {
    const problem = 'must be a program that the operator names in COMMANDS';
    throw refuse([...field, 'config', program], 'command_not_allowed', problem, 'command_not_allowed');
  }
  const headers = members.get('headers');
  if (isJsonObject(headers)) {
    const isOwn = (name: string): boolean => connectionHeaders.has(name) || messageHeaders.has(name);
    checkHeaders([...field, 'config', 'headers'], headers, isOwn);
  }
  for (const { place, text } of textsAt(addresses)) {
    // A mask stands for the address that was checked when it was given.
    if (text !== secretMask) checkCredentialed(checks, place, text, 'page');
  }
  for (const { place, text } of textsAt(templates)) checkText(place, text);
  for (const { place, text } of textsAt(code)) await checkCode(checks.code, place, text);
}

function checkRendering(
  { outbound, rendering }: Pick<SettingsChecks, 'outbound' | 'rendering'>,
  { browser }: TaskInput['fetch'],
): void {
  if (rendering.why !== null) {
    const problem = `needs a browser (Chromium, which BROWSER names), but ${rendering.why}`;
    throw refuse(['fetch', 'mode'], 'browser_unavailable', problem, 'browser_unavailable');
  }
  for (const [index, step] of (browser?.steps ?? []).entries()) {
    const isAddress = step.do === 'goto' && step.value !== undefined && URL.canParse(step.value);
    if (isAddress) checkAddress({ outbound }, ['fetch', 'browser', 'steps', index, 'value'], step.value ?? '');
  }
}

/** What the HTTP client makes itself: of a caller's it would keep nothing, and say nothing. */
const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What says which message it is, and signs it. */
const messageHeaders: ReadonlySet<string> = new Set(['webhook-id', 'webhook-timestamp', 'webhook-signature']);

function checkHeaders(field: Field, headers: object, isOwn: (name: string) => boolean): void {
  for (const name of Object.keys(headers)) {
    if (!isOwn(name.toLowerCase())) continue;
    throw refuse([...field, name], 'invalid', 'is set by this service itself; leave it out', 'headers_invalid');
  }
}

/** Throws where the page can never be loaded, naming the field. */
export function checkPage(
  checks: Pick<SettingsChecks, 'outbound' | 'rendering'>,
  { url, fetch }: Pick<TaskInput, 'url' | 'fetch'>,
): void {
  if (fetch.mode === 'browser') checkRendering(checks, fetch);
  checkHeaders(['fetch', 'headers'], fetch.headers, (name) => connectionHeaders.has(name));
  const isAuthorized = Object.keys(fetch.headers).some((name) => name.toLowerCase() === 'authorization');
  if (isAuthorized && (fetch.auth ?? null) !== null) {
    throw refuse(['fetch', 'auth'], 'invalid', 'and a header Authorization contradict each other; send one of them');
  }
  checkAddress(checks, ['url'], url);
  if (fetch.proxy !== null) checkCredentialed(checks, ['fetch', 'proxy'], fetch.proxy, 'nothing');
}

/** The form of the evaluation code. Throws the first fault, naming its field. */
export async function checkSettings(checks: SettingsChecks, input: TaskInput): Promise<CodeForm> {
  const { schedule } = input;
  const { minIntervalSeconds } = checks.config;
  checkSchedule(schedule, minIntervalSeconds);
  checkPage(checks, input);
  const form = await checkCode(checks.code, ['evaluationFunction'], input.evaluationFunction);
  for (const [index, action] of input.actions.entries()) await checkAction(checks, action, ['actions', index]);
  return form;
}
