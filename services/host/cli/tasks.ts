/** `meerkat tasks`: lists notification tasks over the public API. */
import type { Command } from 'commander';
import { z } from 'zod';
import { readClientSettings, type ClientSettings } from '#runtime/config';
import { askJson } from './client.js';
import { plain, printJson, printNote, printResult, Refused, table } from './terminal.js';

const pageLimit = 100;

/** What is shown; what else an answer holds is kept for `--json`. */
const listedTask = z.looseObject({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  status: z.string(),
  condition: z.string(),
  health: z.string(),
  nextRunAt: z.string().nullable(),
});
const taskList = z.object({ data: z.array(listedTask), pagination: z.object({ pages: z.number() }) });
async function listAll(settings: ClientSettings): Promise<readonly z.infer<typeof listedTask>[]> {
  const tasks: z.infer<typeof listedTask>[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const list = taskList.safeParse(
      await askJson(settings, `/api/notifications?sort=createdAt&limit=${pageLimit}&page=${page}`),
    );
    if (!list.success) throw new Refused('not_meerkat', `${settings.url} does not answer like a Meerkat.`);
    tasks.push(...list.data.data);
    pages = list.data.pagination.pages;
  }
  return tasks;
}

export function addTasks(program: Command): void {
  program
    .command('tasks')
    .description('list the tasks of the server at MEERKAT_URL with MEERKAT_API_KEY, oldest first')
    .option('--json', 'answer as one JSON document: a list of tasks')
    .action(async ({ json }: { readonly json?: true }) => {
      const tasks = await listAll(readClientSettings());
      if (json === true) return printJson(tasks);
      if (tasks.length === 0) return printNote('There are no tasks yet.');
      const rows = tasks.map(({ id, status, condition, health, nextRunAt, name, url }) =>
        [id, status, condition, health, nextRunAt ?? '–', name, url].map(plain),
      );
      printResult(table(['id', 'status', 'condition', 'health', 'next run', 'name', 'page'], rows));
    });
}
