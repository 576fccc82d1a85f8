// Baseline of `create`: the same web server and database, one row and one flushed commit for each request, nothing else.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fastify } from 'fastify';

const database = new DatabaseSync(join(process.cwd(), 'baseline.db'));
database.exec(
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE task (id TEXT PRIMARY KEY, body TEXT)',
);
const insert = database.prepare('INSERT INTO task VALUES (?, ?)');
const server = fastify();
server.get('/', () => ({}));
server.post('/api/notifications', (request, reply) => {
  const id = `ntf_${randomBytes(13).toString('hex')}`;
  insert.run(id, JSON.stringify(request.body));
  return reply.code(201).send({ success: true, data: { id, ...request.body } });
});
process.stdout.write(`ready at ${await server.listen({ port: 0, host: '127.0.0.1' })}\n`);
