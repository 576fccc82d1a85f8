/** `meerkat check task.json`: one run of a task against its live page; nothing is stored, nothing is sent. */
import type { Command } from 'commander';
import { declarationOf } from '#channels/declarations';
import type { MessagePreview } from '#contracts/message-preview';
import type { TestExecution } from '#contracts/run';
import { taskInput, type TaskInput } from '#contracts/task';
import { codeFrame } from '#hints/code-frame';
import { hintFor } from '#hints/hint';
import { parseJsonBody } from '#http/json-body';
import { parseYamlBody } from '#http/yaml';
import { refuse, validated } from '#http/validation';
import { readConfig } from '#runtime/config';
import { AppError, type ErrorDetail } from '#runtime/errors';
import { isJsonObject } from '#runtime/json';
import type { TaskWarning } from '../../gateway/task-warnings.js';
import type { Product } from './product.js';
import { readInputFile, withCodeFile } from './task-file.js';
import { checkAll } from './tasks.js';
import { exitCodes, plain, plainLines, printJson, printNote, printResult, Refused, styled } from './terminal.js';

const shownValueCharacters = 200;

async function parseTask(bytes: Uint8Array, file: string): Promise<TaskInput> {
  const read = /\.ya?ml$/i.test(file) ? parseYamlBody(bytes) : parseJsonBody(bytes);
  if (isJsonObject(read) && Array.isArray(read['notifications'])) {
    throw new Refused(
      'configuration_file',
      `${file} is a configuration of several tasks; check takes one. meerkat diff ${file} checks all of it and shows what would change.`,
    );
  }
  const input = validated(taskInput, await withCodeFile(read, file), 'body');
  for (const [index, { id }] of input.actions.entries()) {
    if (id !== undefined) throw refuse(['actions', index, 'id'], 'unknown', 'is given by the service');
  }
  return input;
}

/** The text that a detail's line and column count in: the task's own code or template. */
function textOf(input: TaskInput, { field }: ErrorDetail): string | null {
  if (field === 'evaluationFunction') return input.evaluationFunction;
  const [, index, name = ''] = /^actions\[(\d+)\]\.config\.(\w+)$/.exec(field) ?? [];
  const action = input.actions[Number(index)];
  if (action?.type === undefined) return null;
  const { templates, code } = declarationOf(action.type);
  const text = [...templates, ...code].includes(name) ? action.config[name] : null;
  return typeof text === 'string' ? text : null;
}

/** The place that a refusal of the file itself names in its words. */
function placeInFile({ reason, message }: AppError, bytes: Uint8Array): readonly string[] {
  const [, line, column] = (reason === 'malformed_json' && /line (\d+), column (\d+)/.exec(message)) || [];
  return line === undefined ? [] : codeFrame(Buffer.from(bytes).toString('utf8'), Number(line), Number(column));
}

function refusalLines(error: AppError, file: string, bytes: Uint8Array, input: TaskInput | null): readonly string[] {
  const details = error.details ?? [];
  const frames = details.flatMap((detail) => {
    const { line, column } = detail;
    const text = input === null ? null : textOf(input, detail);
    return text === null || line === undefined ? [] : codeFrame(text, line, column ?? 1);
  });
  // Most sentences begin with the field that they are about; of an address there may be several in a task.
  const [first] = details;
  const place = first === undefined || error.message.includes(first.field) ? [] : [`  in ${plain(first.field)}`];
  const more = details.slice(1).map(({ field, message }) => `  ${plain(field)} ${plain(message)}`);
  const hint = hintFor(error);
  return [
    `${styled('red', 'refused')}  ${plain(error.message.replace(/^The body\b/, file))} (${error.reason})`,
    ...place,
    ...placeInFile(error, bytes),
    ...frames,
    ...more,
    ...(hint === null ? [] : [styled('dim', `  ${hint}`)]),
  ];
}

function errorLines({ reason, message, frame, hint }: NonNullable<TestExecution['error']>): readonly string[] {
  return [
    `  ${plain(message)} (${reason})`,
    ...(frame === undefined ? [] : frame.split('\n')),
    ...(hint === undefined ? [] : [styled('dim', `  ${plain(hint)}`)]),
  ];
}

function verdict({ status, outcome }: TestExecution): string {
  if (outcome === null) return styled('red', status === 'timed_out' ? 'timed out' : 'failed');
  return outcome ? styled('green', 'true') : styled('yellow', 'false');
}

function shownValue(value: unknown): string {
  const text = plain(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length <= shownValueCharacters ? text : `${text.slice(0, shownValueCharacters)}…`;
}

function listening({ actions }: TaskInput, kind: string): string {
  const types = actions
    .filter(({ enabled, on }) => enabled && on.some((name) => name === kind))
    .map((action) => action.type ?? action.contact);
  return types.join(', ');
}

function decisionLine({ decision }: TestExecution, input: TaskInput): string {
  const { notify, reason, wouldTell } = decision;
  const said = `a first run would ${notify ? 'notify' : 'not notify'} (${reason})`;
  if (wouldTell !== undefined) return `${said}: no enabled action listens to "${wouldTell.kind}" (${wouldTell.reason})`;
  return notify ? `${said}: ${listening(input, 'triggered')}` : said;
}

function report(input: TaskInput, trial: TestExecution): string {
  const { page, values, logs, timings, error } = trial;
  const row = (title: string, text: string): string => `  ${styled('dim', title.padEnd(9))} ${text}`;
  const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
  return [
    `${verdict(trial)}  ${plain(input.name)}`,
    ...(error === null ? [] : errorLines(error)),
    ...(page === null
      ? []
      : [
          row(
            'page',
            `${plain(page.finalUrl)}  ${page.status ?? 'no answer'}, ${page.bytes.toLocaleString('en-US')} bytes`,
          ),
        ]),
    ...Object.entries(values).map(([name, value]) => row('value', `${plain(name)} = ${shownValue(value)}`)),
    ...logs.flatMap(({ level, message }) => plainLines(message).map((line) => row(level, line))),
    ...(timings === null
      ? []
      : [row('took', `load ${ms(timings.fetchMs)}, parse ${ms(timings.parseMs)}, code ${ms(timings.evaluateMs)}`)]),
    row('decision', decisionLine(trial, input)),
    ...(trial.hint === undefined ? [] : [row('hint', plain(trial.hint))]),
  ].join('\n');
}

const warningLines = (warnings: readonly TaskWarning[]): readonly string[] =>
  warnings.map(({ field, message }) => `  ${styled('yellow', 'warning'.padEnd(9))} ${plain(`${field}: ${message}`)}`);

/** When the messages would go out that a first run does not send; null: it sends them. */
function sentOnce({ values, decision }: TestExecution, { policy }: TaskInput): string | null {
  if (decision.notify) return null;
  switch (decision.reason) {
    case 'not_true':
      return 'once the condition is met';
    case 'not_changed':
      return `once the ${'value' in values ? 'value' : 'outcome'} changes`;
    case 'awaiting_confirmation':
      return `once ${policy.confirmations} runs in a row are true`;
    case 'error_below_threshold':
      return `once ${policy.errorThreshold} runs in a row have failed`;
    default:
      return `once nothing holds it back (${decision.reason})`;
  }
}

function messagesHead(trial: TestExecution, input: TaskInput): readonly string[] {
  const once = sentOnce(trial, input);
  return once === null ? [] : [`  ${styled('dim', `What goes out ${once}:`)}`];
}

const shownMessageLines = 12;

/** A message as it would be sent: its title, and the beginning of its text. */
function messageLines({ actionType, kind, title, text, request, error }: MessagePreview): readonly string[] {
  const head = `  ${styled('dim', 'message'.padEnd(9))} ${actionType}, ${kind}, ${plain(`${request.method} ${request.url}`)}`;
  if (error !== null) return [head, `    ${styled('red', error.reason)}  ${plain(error.message)}`];
  const lines = plainLines(text.trimEnd());
  const more = lines.length > shownMessageLines ? ['…'] : [];
  return [head, ...[plain(title), ...lines.slice(0, shownMessageLines), ...more].map((line) => `    ${line}`)];
}

const smtpNote =
  'Note: SMTP_URL is not set here; an instance without it refuses this task, because it has an e-mail action.';

/** Contacts are known to a server: here nothing can be shown of what goes to them. */
function contactNote({ actions }: TaskInput): string | null {
  const names = new Set(
    actions.flatMap((action) => (action.type === undefined && action.enabled ? [action.contact] : [])),
  );
  if (names.size === 0) return null;
  const named = [...names].map((name) => plain(name)).join(', ');
  return `Note: what goes to contacts (${named}) is not shown here: a server knows them (POST /api/notifications/test).`;
}

async function checkFile(product: Product, file: string, isJson: boolean): Promise<number> {
  const config = readConfig();
  const bytes = await readInputFile(file);
  let input: TaskInput | null = null;
  try {
    input = await parseTask(bytes, file);
    const lacksMail =
      config.smtpUrl === null &&
      input.actions.some(({ type }) => type !== undefined && declarationOf(type).needs === 'smtp');
    if (lacksMail) printNote(smtpNote);
    const left = contactNote(input);
    if (left !== null) printNote(left);
    const bench = await product.openTrialBench(config);
    try {
      const trial = await bench.run(input, await bench.check(input));
      const messages = await bench.messages(input, trial);
      const warnings = bench.warnings(input);
      if (isJson) printJson({ ...trial, messages, ...(warnings.length === 0 ? {} : { warnings }) });
      else {
        const head = messages.length === 0 ? [] : messagesHead(trial, input);
        const shown = [...head, ...messages.flatMap(messageLines)];
        printResult([report(input, trial), ...warningLines(warnings), ...shown].join('\n'));
      }
      return trial.status === 'succeeded' ? exitCodes.done : exitCodes.refused;
    } finally {
      await bench.close();
    }
  } catch (error) {
    if (!(error instanceof AppError) || isJson) throw error;
    printNote(refusalLines(error, file, bytes, input).join('\n'));
    return exitCodes.refused;
  }
}

export function addCheck(program: Command, product: Product, end: (exitCode: number) => void): void {
  program
    .command('check')
    .description('run a task once against its live page and print what came of it; nothing is stored or sent')
    .argument(
      '[file]',
      'the body of POST /api/notifications, as JSON or YAML; `code: ./file.js` takes the code from a file beside it',
    )
    .option(
      '--all',
      'each task of the server at MEERKAT_URL instead, with MEERKAT_API_KEY; the runs are on record as dry runs',
    )
    .option('--json', 'answer as one JSON document')
    .action(async (file: string | undefined, { json, all }: { readonly json?: true; readonly all?: true }) => {
      if ((file === undefined) === (all === undefined)) {
        throw new Refused('usage', 'Name a file, or say --all.', exitCodes.usage);
      }
      end(file === undefined ? await checkAll(json === true) : await checkFile(product, file, json === true));
    });
}
