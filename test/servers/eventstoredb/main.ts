/** Runs the double as a process: `node test/servers/eventstoredb/main.ts --port 0 --data <folder> [--control <port>] [--cluster <members>] [--admin <name>:<password>] [--user <name>:<password>] [--certificate <file> --key <file>]`. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readUser } from './access.ts';
import { startEventStoreDb } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    data: { type: 'string' },
    control: { type: 'string' },
    cluster: { type: 'string', default: '1' },
    admin: { type: 'string', multiple: true, default: [] },
    user: { type: 'string', multiple: true, default: [] },
    certificate: { type: 'string' },
    key: { type: 'string' },
  },
});
const port = Number(values.port);
const control = values.control === undefined ? null : Number(values.control);
const members = Number(values.cluster);
const users = [
  ...values.admin.map((text) => readUser(text, true)),
  ...values.user.map((text) => readUser(text, false)),
].filter((user) => user !== null);
const areUsers = users.length === values.admin.length + values.user.length;
const { certificate, key } = values;
const tls =
  certificate === undefined || key === undefined
    ? null
    : { certificateFile: certificate, certificate: readFileSync(certificate), key: readFileSync(key) };
const isTls = tls !== null || (certificate === undefined && key === undefined);
const isSize = Number.isInteger(members) && members >= 1 && members <= 9;
if (
  values.data === undefined ||
  !isPort(port) ||
  (control !== null && !isPort(control)) ||
  !isSize ||
  !areUsers ||
  !isTls
) {
  process.stderr.write(
    'usage: main.ts --port <0-65535> --data <folder> [--control <0-65535>] [--cluster <1-9>] [--admin <name>:<password>]… [--user <name>:<password>]… [--certificate <file> --key <file>]\n',
  );
  process.exit(2);
}

function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 65_535;
}

const server = await startEventStoreDb({ port, data: values.data, control, members, users, tls });
process.stdout.write(`EVENT_STORE_URL=${server.url}\n`);
if (server.controlUrl !== null) process.stderr.write(`CONTROL_URL=${server.controlUrl}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void server.close().then(() => process.exit(0));
  });
}
