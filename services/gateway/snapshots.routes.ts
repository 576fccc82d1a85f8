/** The operations on the pages that executions were made on. */
import { z } from 'zod';
import { replay } from '#contracts/run';
import { route } from '#http/route';

const execution = { id: { prefix: 'exe', of: 'execution' } } as const;

export const getExecutionSnapshot = route({
  method: 'GET',
  path: '/api/executions/{id}/snapshot',
  operationId: 'getExecutionSnapshot',
  summary: 'Get the page that was evaluated',
  description:
    'The page as it was evaluated, in UTF-8: foreign content, which a Content-Security-Policy keeps from running scripts and from loading anything. What is no HTML is shown as text. Pages are kept for a while only: 404 `snapshot_gone` after that.',
  tag: 'Execute',
  access: 'read',
  ids: execution,
  answers: [
    {
      status: 200,
      description: 'The page.',
      envelope: 'none',
      contentType: 'text/html; charset=utf-8',
      headers: {
        'Content-Security-Policy': 'Keeps the page from running scripts and from loading anything.',
        'X-Snapshot-Id': 'The id of the snapshot.',
        'X-Final-Url': 'Where the page was, after redirects.',
      },
    },
  ],
});

export const getExecutionScreenshot = route({
  method: 'GET',
  path: '/api/executions/{id}/screenshot',
  operationId: 'getExecutionScreenshot',
  summary: 'Get what the browser showed',
  description:
    'A PNG as wide as the viewport, of a run whose page a browser rendered, taken when the page was read or a step failed; kept as `fetch.browser.screenshot` says, for as long as pages are. Where there is none: 404 `no_screenshot`.',
  tag: 'Execute',
  access: 'read',
  ids: execution,
  answers: [
    {
      status: 200,
      description: 'The screenshot.',
      envelope: 'none',
      contentType: 'image/png',
      headers: { 'X-Snapshot-Id': 'The id of the screenshot.' },
    },
  ],
});

export const replayExecution = route({
  method: 'POST',
  path: '/api/executions/{id}/replay',
  operationId: 'replayExecution',
  summary: 'Run an execution once more on the page that was kept',
  description:
    'The same snapshot, code, state and seed. Nothing is recorded and nothing is sent. Where the page is not kept any more: 404 `snapshot_gone`.',
  tag: 'Execute',
  access: 'execute',
  ids: execution,
  body: z.strictObject({}),
  emptyBody: {},
  bodyExample: {},
  answers: [{ status: 200, description: 'What it found, and the differences.', envelope: 'data', schema: replay }],
});
