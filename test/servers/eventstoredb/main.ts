/** Runs the double as a process: `node test/servers/eventstoredb/main.ts --port 0 --data <folder> [--control <port>] [--cluster <members>]`. */
import { parseArgs } from 'node:util';
import { startEventStoreDb } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    data: { type: 'string' },
    control: { type: 'string' },
    cluster: { type: 'string', default: '1' },
  },
});
const port = Number(values.port);
const control = values.control === undefined ? null : Number(values.control);
const members = Number(values.cluster);
const isSize = Number.isInteger(members) && members >= 1 && members <= 9;
if (values.data === undefined || !isPort(port) || (control !== null && !isPort(control)) || !isSize) {
  process.stderr.write('usage: main.ts --port <0-65535> --data <folder> [--control <0-65535>] [--cluster <1-9>]\n');
  process.exit(2);
}

function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 65_535;
}

const server = await startEventStoreDb({ port, data: values.data, control, members });
process.stdout.write(`EVENT_STORE_URL=${server.url}\n`);
if (server.controlUrl !== null) process.stderr.write(`CONTROL_URL=${server.controlUrl}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void server.close().then(() => process.exit(0));
  });
}
