/** The operation that loads a page for somebody who picks an element on it. */
import { z } from 'zod';
import { pagePreview } from '#contracts/page-preview';
import { taskInput } from '#contracts/task';
import { route } from '#http/route';

export const previewPage = route({
  method: 'POST',
  path: '/api/pages/preview',
  operationId: 'previewPage',
  summary: 'Load a page once, and list the elements on it',
  description:
    'The page as the code of a task would see it, and a selector for each element with text, control and image. Nothing is saved. A page that cannot be loaded is answered too, with `error`. Counts as a test: four of an organisation at once (429 `too_many_tests`); a page that is not loaded after 45 s counts as `timed_out`.',
  tag: 'Execute',
  access: 'write',
  body: z.strictObject({ url: taskInput.shape.url, fetch: taskInput.shape.fetch }),
  bodyExample: { url: 'https://shop.example.com/kettle', fetch: { mode: 'http' } },
  answers: [{ status: 200, description: 'The page and what stands on it.', envelope: 'data', schema: pagePreview }],
});
