/** `meerkat tasks`, `run`, `logs`, `pause`, `resume`, `open`, `check --all`: tasks of a running server, over its public API. */
import type { Command } from 'commander';
import { z } from 'zod';
import { hintFor } from '#hints/hint';
import { readClientSettings, type ClientSettings } from '#runtime/config';
import { askJson } from './client.js';
import { exitCodes, plain, plainLines, printJson, printNote, printResult, Refused, styled, table } from './terminal.js';

const pageLimit = 100;
const waitSeconds = 60;
const shownCharacters = 60;

const failure = z.object({ reason: z.string(), message: z.string() });

/** What is shown; what else an answer holds is kept for `--json`. */
const listedTask = z.looseObject({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  status: z.string(),
  condition: z.string(),
  health: z.string(),
  nextRunAt: z.string().nullable(),
  externalKey: z.string().nullable(),
  lastExecution: z
    .looseObject({
      finishedAt: z.string(),
      status: z.string(),
      value: z.json().optional(),
      reason: z.string().nullable().optional(),
    })
    .nullable(),
});
type ListedTask = z.infer<typeof listedTask>;
const taskList = z.object({ data: z.array(listedTask), pagination: z.object({ pages: z.number() }) });
const oneTask = z.object({ data: listedTask });

const shownRun = z.looseObject({
  id: z.string(),
  status: z.string(),
  outcome: z.boolean().nullable(),
  values: z.record(z.string(), z.json()),
  logs: z.array(z.object({ level: z.string(), message: z.string() })),
  error: failure.extend({ line: z.number().optional(), hint: z.string().optional() }).nullable(),
  decision: z
    .object({
      notify: z.boolean(),
      reason: z.string(),
      wouldTell: z.object({ kind: z.string(), reason: z.string() }).optional(),
    })
    .nullable(),
  hint: z.string().optional(),
  queuedAt: z.string(),
  finishedAt: z.string().nullable(),
});
type ShownRun = z.infer<typeof shownRun>;
const oneRun = z.object({ data: shownRun });
const runList = z.object({ data: z.array(shownRun) });

interface JsonOption {
  readonly json?: true;
}

function read<T>(schema: z.ZodType<T>, answer: unknown, { url }: ClientSettings): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new Refused('not_meerkat', `${url} does not answer like a Meerkat.`);
}

async function listAll(settings: ClientSettings, filter = ''): Promise<readonly ListedTask[]> {
  const tasks: ListedTask[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const path = `/api/notifications?sort=createdAt&limit=${pageLimit}&page=${page}${filter}`;
    const list = read(taskList, await askJson(settings, path), settings);
    tasks.push(...list.data);
    pages = list.pagination.pages;
  }
  return tasks;
}

/** By its id, its external key, or its name where only one task has it. */
async function findTask(settings: ClientSettings, word: string): Promise<ListedTask> {
  if (/^ntf_[0-9a-z]{26}$/.test(word)) {
    return read(oneTask, await askJson(settings, `/api/notifications/${word}`), settings).data;
  }
  const [byKey] = await listAll(settings, `&externalKey=${encodeURIComponent(word)}`);
  if (byKey !== undefined) return byKey;
  const named = (await listAll(settings, `&q=${encodeURIComponent(word)}`)).filter(({ name }) => name === word);
  const [only, ...others] = named;
  if (only === undefined) throw new Refused('no_such_task', `No task has the id, external key or name ${plain(word)}.`);
  if (others.length === 0) return only;
  const ids = named.map(({ id }) => id).join(', ');
  throw new Refused('ambiguous_name', `${named.length} tasks have the name ${plain(word)}; say which: ${ids}.`);
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–';
  const text = plain(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}

function verdictOf({ status, outcome }: Pick<ShownRun, 'status' | 'outcome'>): string {
  return outcome === null ? status : String(outcome);
}

/** Where nobody listens, what they would have heard. */
function decisionWords({ notify, reason, wouldTell }: NonNullable<ShownRun['decision']>): string {
  const said = `${notify ? 'notified' : 'not notified'} (${reason})`;
  if (wouldTell === undefined) return said;
  return `${said}: it would have told "${wouldTell.kind}" (${wouldTell.reason}), but no enabled action listens to that`;
}

function runLines(
  { status, outcome, values, logs, error, decision, ...run }: ShownRun,
  name: string,
): readonly string[] {
  const row = (title: string, text: string): string => `  ${styled('dim', title.padEnd(9))} ${text}`;
  const hint = error === null ? (run.hint ?? null) : hintFor(error);
  return [
    `${verdictOf({ status, outcome })}  ${plain(name)}`,
    ...(error === null ? [] : [row('error', `${plain(error.message)} (${error.reason})`)]),
    ...(hint === null ? [] : [row('', plain(hint))]),
    ...Object.entries(values).map(([key, value]) => row('value', `${plain(key)} = ${shown(value)}`)),
    ...logs.flatMap(({ level, message }) => plainLines(message).map((line) => row(level, line))),
    ...(decision === null ? [] : [row('decision', decisionWords(decision))]),
  ];
}

async function execute(settings: ClientSettings, { id }: ListedTask, dryRun: boolean): Promise<ShownRun> {
  const path = `/api/notifications/${id}/execute?wait=${waitSeconds}`;
  return read(oneRun, await askJson(settings, path, { method: 'POST', json: { dryRun } }), settings).data;
}

/** Each saved task once on its live page; nothing is sent. Exit code 1 where one fails. */
export async function checkAll(isJson: boolean): Promise<number> {
  const settings = readClientSettings();
  const tasks = await listAll(settings);
  const runs: { task: ListedTask; run: ShownRun }[] = [];
  for (const task of tasks) runs.push({ task, run: await execute(settings, task, true) });
  const failed = runs.filter(({ run }) => run.outcome === null);
  if (isJson) {
    printJson(
      runs.map(({ task: { id, name }, run: { outcome, status, values, error } }) => ({
        id,
        name,
        status,
        outcome,
        values,
        error,
      })),
    );
  } else if (tasks.length === 0) printNote('There are no tasks yet.');
  else {
    const rows = runs.map(({ task, run }) => [
      task.id,
      verdictOf(run),
      run.error?.reason ?? '–',
      shown(run.values['value']),
      plain(task.name),
    ]);
    printResult(table(['id', 'outcome', 'error', 'value', 'name'], rows));
    for (const { task, run } of failed) printNote(runLines(run, task.name).join('\n'));
    printNote(`${runs.length - failed.length} of ${runs.length} end with true or false.`);
  }
  return failed.length === 0 ? exitCodes.done : exitCodes.refused;
}

function addChange(program: Command, name: 'pause' | 'resume', description: string): void {
  program
    .command(name)
    .description(description)
    .argument('<task>', 'its id, external key or name')
    .option('--json', 'answer as one JSON document: the task')
    .action(async (word: string, { json }: JsonOption) => {
      const settings = readClientSettings();
      const { id } = await findTask(settings, word);
      const change = { status: name === 'pause' ? 'paused' : 'active' };
      const answer = await askJson(settings, `/api/notifications/${id}`, { method: 'PATCH', json: change });
      const { data } = read(oneTask, answer, settings);
      if (json === true) return printJson(data);
      printResult(`${data.id}  ${data.status}  ${plain(data.name)}`);
    });
}

export function addTasks(program: Command, end: (exitCode: number) => void): void {
  program
    .command('tasks')
    .description('list the tasks of the server at MEERKAT_URL with MEERKAT_API_KEY, oldest first')
    .option('--json', 'answer as one JSON document: a list of tasks')
    .action(async ({ json }: JsonOption) => {
      const tasks = await listAll(readClientSettings());
      if (json === true) return printJson(tasks);
      if (tasks.length === 0) return printNote('There are no tasks yet.');
      const rows = tasks.map(({ id, status, condition, health, lastExecution: last, nextRunAt, name, url }) => [
        ...[id, status, condition, health, last?.finishedAt ?? '–', shown(last?.value), last?.reason ?? '–'].map(plain),
        ...[nextRunAt ?? '–', name, url].map(plain),
      ]);
      const head = ['id', 'status', 'condition', 'health', 'last run', 'value', 'error', 'next run', 'name', 'page'];
      printResult(table(head, rows));
    });
  program
    .command('run')
    .description('run a task now and wait for what comes of it; it notifies as its policy says')
    .argument('<task>', 'its id, external key or name')
    .option('--dry-run', 'send nothing and change no state')
    .option('--json', 'answer as one JSON document: the execution')
    .action(async (word: string, { json, dryRun }: JsonOption & { readonly dryRun?: true }) => {
      const settings = readClientSettings();
      const task = await findTask(settings, word);
      const run = await execute(settings, task, dryRun === true);
      if (json === true) printJson(run);
      else printResult(runLines(run, task.name).join('\n'));
      if (run.outcome === null) end(exitCodes.refused);
    });
  program
    .command('logs')
    .description('the last runs of a task, newest first, with what they logged')
    .argument('<task>', 'its id, external key or name')
    .option('-n, --runs <count>', 'how many, 1 to 100', '10')
    .option('--json', 'answer as one JSON document: a list of executions')
    .action(async (word: string, { json, runs }: JsonOption & { readonly runs: string }) => {
      const settings = readClientSettings();
      const { id } = await findTask(settings, word);
      const path = `/api/notifications/${id}/executions?limit=${encodeURIComponent(runs)}`;
      const { data } = read(runList, await askJson(settings, path), settings);
      if (json === true) return printJson(data);
      if (data.length === 0) return printNote('It has not run yet.');
      printResult(data.flatMap((run) => runLines(run, `${run.finishedAt ?? run.queuedAt}  ${run.id}`)).join('\n'));
    });
  addChange(program, 'pause', 'pause a task: it does not run until it is resumed');
  addChange(program, 'resume', 'let a paused task run again');
  program
    .command('open')
    .description('print where a task is shown to people')
    .argument('<task>', 'its id, external key or name')
    .action(async (word: string) => {
      const settings = readClientSettings();
      const { id } = await findTask(settings, word);
      printResult(new URL(`/tasks/${id}`, settings.url).href);
    });
}
