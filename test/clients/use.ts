/** The generated TypeScript client makes a task and runs it. Types alone decide whether this compiles. */
import process from 'node:process';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/api.js';

const [baseUrl = '', apiKey = '', page = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } });

const task: components['schemas']['NotificationInput'] = {
  name: 'Made by the TypeScript client',
  url: page,
  evaluationFunction: "return document.querySelector('h1').textContent === 'Kettles'",
  schedule: { type: 'manual' },
  actions: [{ type: 'webhook', config: { url: page }, on: ['error'] }],
};

const made = await client.POST('/api/notifications', { body: task });
if (made.error !== undefined) throw new Error(made.error.error.message);
const { id, actions } = made.data.data;
if (actions[0]?.type !== 'webhook') throw new Error('the action is no webhook');
const run = await client.POST('/api/notifications/{id}/execute', {
  params: { path: { id }, query: { wait: 30 } },
  body: { force: false, dryRun: true },
});
if (run.error !== undefined) throw new Error(run.error.error.message);
const { status, outcome, decision } = run.data.data;
if (status !== 'succeeded' || outcome !== true) throw new Error(`${status}, ${String(outcome)}`);
if (decision?.reason !== 'dry_run') throw new Error(`decided ${String(decision?.reason)}`);
const gone = await client.DELETE('/api/notifications/{id}', { params: { path: { id } } });
if (gone.data?.data.deleted !== true) throw new Error('the task is still there');
