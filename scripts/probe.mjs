// Asks the process of this container whether it is well; for health checks, so that an image needs no curl.
// `node scripts/probe.mjs [path]`: exit code 0 where the answer is 200.
import { get } from 'node:http';

const [path = '/healthz'] = process.argv.slice(2);
const request = get({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000), path, timeout: 4_000 }, (response) => {
  process.exit(response.statusCode === 200 ? 0 : 1);
});
request.on('timeout', () => request.destroy());
request.on('error', () => process.exit(1));
