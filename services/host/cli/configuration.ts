/** `meerkat export`, `apply` and `diff`: the configuration of an organisation as a file, over the public API. */
import { writeFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { parseJsonBody } from '#http/json-body';
import { parseYamlBody, toYaml } from '#http/yaml';
import { readClientSettings, readVariables } from '#runtime/config';
import { AppError } from '#runtime/errors';
import { isJsonObject, type Json } from '#runtime/json';
import { mapTexts, withoutVariables } from '#runtime/text-variables';
import { askJson } from './client.js';
import { readInputFile } from './task-file.js';
import { plain, printJson, printNote, printResult, Refused, styled } from './terminal.js';

const warning = z.object({ field: z.string(), message: z.string() });
const planned = z.object({ externalKey: z.string(), id: z.string(), warnings: z.array(warning).optional() });
const contact = z.object({ name: z.string() });
const change = z.object({
  path: z.string(),
  secret: z.literal(true).optional(),
  from: z.json().optional(),
  to: z.json().optional(),
});
const changes = z.array(change);
const planAnswer = z.object({
  data: z.object({
    create: z.array(planned),
    update: z.array(planned.extend({ changes })),
    unchanged: z.array(planned),
    archive: z.array(planned),
    contacts: z
      .object({ create: z.array(contact), update: z.array(contact.extend({ changes })), unchanged: z.array(contact) })
      .optional(),
  }),
});
const exportAnswer = z.object({ data: z.record(z.string(), z.json()) });
type Plan = z.infer<typeof planAnswer>['data'];
type PlannedContact = z.infer<typeof contact>;

/** What becomes of contacts beside what becomes of tasks. */
function withContacts({ contacts, ...tasks }: Plan): Plan {
  if (contacts === undefined) return tasks;
  const named = <One extends PlannedContact>(one: One) => ({
    ...one,
    externalKey: `contact ${one.name}`,
    id: one.name,
  });
  return {
    create: [...contacts.create.map(named), ...tasks.create],
    update: [...contacts.update.map(named), ...tasks.update],
    unchanged: [...contacts.unchanged.map(named), ...tasks.unchanged],
    archive: tasks.archive,
  };
}

const longestShown = 120;

/** `${NAME}` in texts is replaced by the variable of the environment; `$${` stands for `${` itself. */
export function withVariables(value: Json, environment: Readonly<Record<string, string | undefined>>): Json {
  return mapTexts(value, (text, path) =>
    text.replaceAll(/\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_all, literal?: string, name = '') => {
      if (literal !== undefined) return literal;
      const found = environment[String(name)];
      if (found !== undefined) return found;
      const message = `${path === '' ? 'The file' : path} needs the environment variable ${String(name)}, which is not set. (\`$\${\` stands for itself.)`;
      throw new Refused('variable_missing', message);
    }),
  );
}

/** Its faults name the file, which is no body to the person who wrote it. */
function parsedFile(file: string, bytes: Uint8Array): Json | undefined {
  try {
    return /\.json$/i.test(file) ? parseJsonBody(bytes) : parseYamlBody(bytes);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new Refused(error.reason, error.message.replace(/^The body\b/, file));
  }
}

async function readConfiguration(file: string): Promise<Json> {
  const bytes = await readInputFile(file);
  const value = parsedFile(file, bytes);
  if (value === undefined) throw new Refused('file_empty', `${file} is empty.`);
  // As the server answered it: those who may write a task wrote its texts, and are to have no variables filled in.
  if (isJsonObject(value) && value['variables'] === false) return value;
  return withVariables(value, readVariables());
}

const shown = (value: Json | undefined): string => {
  const text = value === undefined ? '–' : plain(JSON.stringify(value));
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
};

export function changeWords({ secret, from, to }: z.infer<typeof change>): string {
  if (secret !== true) return `${shown(from)} → ${shown(to)}`;
  // Two masks would look as if nothing were different.
  if (from === undefined) return 'added (secret)';
  return to === undefined ? 'removed (secret)' : 'changed (secret)';
}

function warningLines({ warnings = [] }: z.infer<typeof planned>): readonly string[] {
  return warnings.map(({ field, message }) => `    ${styled('yellow', 'warning')}  ${plain(`${field}: ${message}`)}`);
}

function linesOf(plan: Plan): readonly string[] {
  const { create, update, archive } = withContacts(plan);
  return [
    ...create.flatMap((one) => [styled('green', `+ ${plain(one.externalKey)}`), ...warningLines(one)]),
    ...update.flatMap((one) => [
      styled('yellow', `~ ${plain(one.externalKey)}`),
      ...one.changes.map((each) => `    ${plain(each.path)}: ${changeWords(each)}`),
      ...warningLines(one),
    ]),
    ...archive.map(({ externalKey }) => styled('red', `- ${plain(externalKey)}`)),
  ];
}

function isNothing(plan: Plan): boolean {
  const { create, update, archive } = withContacts(plan);
  return create.length + update.length + archive.length === 0;
}

function summaryOf(plan: Plan, isDone: boolean): string {
  const { create, update, unchanged, archive } = withContacts(plan);
  const counts = `${create.length} to create, ${update.length} to update, ${unchanged.length} unchanged, ${archive.length} to archive`;
  return isDone ? counts.replaceAll(/ to (create|update|archive)/g, (_all, verb: string) => ` ${verb}d`) : counts;
}

interface ApplyOptions {
  readonly dryRun?: true;
  readonly archiveMissing?: true;
  readonly json?: true;
}

async function plan(file: string, { dryRun, archiveMissing }: ApplyOptions): Promise<Plan> {
  const settings = readClientSettings();
  const query = new URLSearchParams({
    dryRun: String(dryRun === true),
    archiveMissing: String(archiveMissing === true),
  });
  const json = await readConfiguration(file);
  const answer = planAnswer.safeParse(
    await askJson(settings, `/api/apply?${query.toString()}`, { method: 'PUT', json, bodyName: file }),
  );
  if (answer.success) return answer.data.data;
  throw new Refused('not_meerkat', `${settings.url} does not answer like a Meerkat.`);
}

function print(found: Plan, options: ApplyOptions): void {
  if (options.json === true) return printJson(found);
  for (const line of linesOf(found)) printResult(line);
  return printNote(summaryOf(found, options.dryRun !== true));
}

interface ExportOptions {
  readonly format: 'yaml' | 'json';
  readonly out?: string;
  readonly schema?: true;
}

async function exported({ format, schema }: ExportOptions): Promise<string> {
  if (schema === true) {
    const { configurationSchema } = await import('./configuration-schema.js');
    return `${JSON.stringify(configurationSchema(), null, 2)}\n`;
  }
  const settings = readClientSettings();
  const answer = exportAnswer.safeParse(await askJson(settings, '/api/export'));
  if (!answer.success) throw new Refused('not_meerkat', `${settings.url} does not answer like a Meerkat.`);
  // `apply` replaces variables in this file, and users wrote none.
  const { variables: _variables, ...rest } = answer.data.data;
  const file = withoutVariables(rest);
  return format === 'yaml' ? toYaml(file) : `${JSON.stringify(file, null, 2)}\n`;
}

export function addConfiguration(program: Command, end: (exitCode: number) => void): void {
  program
    .command('export')
    .description('write the tasks of the server at MEERKAT_URL as a configuration file; secrets are masked')
    .addOption(new Option('--format <format>', 'of the file').choices(['yaml', 'json']).default('yaml'))
    .option('--out <file>', 'instead of standard output')
    .option('--schema', 'write the JSON Schema of such a file, for editors')
    .action(async (options: ExportOptions) => {
      const text = await exported(options);
      if (options.out === undefined) process.stdout.write(text);
      else await writeFile(options.out, text);
    });
  program
    .command('apply')
    .argument('<file>', 'YAML or JSON; ${NAME} in its texts is taken from the environment')
    .description('make the tasks of the server at MEERKAT_URL what a configuration file says')
    .option('--dry-run', 'show what would be done')
    .option('--archive-missing', 'archive tasks that the file does not name')
    .option('--json', 'answer as one JSON document: the plan')
    .action(async (file: string, options: ApplyOptions) => print(await plan(file, options), options));
  program
    .command('diff')
    .argument('<file>', 'as of apply')
    .description('show what apply would do; exit code 1 where that is anything')
    .option('--archive-missing', 'with what apply would archive')
    .option('--json', 'answer as one JSON document: the plan')
    .action(async (file: string, options: ApplyOptions) => {
      const found = await plan(file, { ...options, dryRun: true });
      print(found, { ...options, dryRun: true });
      if (!isNothing(found)) end(1);
    });
}
