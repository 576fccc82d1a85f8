// `migrate`: a history moved from SQLite to SQLite and, where EVENT_STORE_URL and READ_STORE_URL are set (npm run servers -- up),
// to EventStoreDB and back, by `meerkat migrate`.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeHistory } from './history.mjs';
import { makeFolder, runCommand } from './processes.mjs';

const history = { wantedTasks: 100, wantedEvents: 50_000 };

export async function* migrate() {
  const [home, other, back] = [await makeFolder(), await makeFolder(), await makeFolder()];
  const count = await makeHistory(home, history);
  const env = {
    SECRET_KEY: (await readFile(join(home, 'secret.key'), 'utf8')).trim(),
    INSTALLATION: `bench-${Date.now()}`,
  };
  const title = `${count.toLocaleString('en-US')} events`;

  const move = async function* (what, from, to, settings) {
    const words = ['migrate', '--from', from, '--to', to, '--json'];
    const moved = JSON.parse(await runCommand(words, { env: { ...env, ...settings } }));
    if (moved.events !== count || moved.copied !== count) throw new Error(`${moved.copied} of ${count} events came`);
    yield { bench: 'migrate', case: `${title} ${what}: copied`, value: moved.copiedPerSecond, unit: '/s' };
    yield {
      bench: 'migrate',
      case: `${title} ${what}: read back into views`,
      value: moved.verifiedPerSecond,
      unit: '/s',
    };
  };

  yield* move('from SQLite to SQLite', `sqlite:${home}`, `sqlite:${other}`, { DATA_DIR: other });
  const { EVENT_STORE_URL: server, READ_STORE_URL: readStore, BUS_URL: bus } = process.env;
  if (server === undefined) return;
  yield* move('from SQLite to EventStoreDB', `sqlite:${home}`, server, {
    DATA_DIR: other,
    READ_STORE_URL: readStore,
    BUS_URL: bus,
  });
  yield* move('from EventStoreDB to SQLite', server, `sqlite:${back}`, { DATA_DIR: back });
}
