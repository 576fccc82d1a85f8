/** The live stream of an organisation's changes. */
import { z } from 'zod';
import { idSchema } from '#contracts/common';
import { recentRunsView } from '#contracts/recent-runs';
import { route } from '#http/route';
import { streamKinds, type StreamKind } from './changes.js';

const isKind = (text: string): boolean => streamKinds.some((kind) => kind === text);

const kindList = z
  .string()
  .refine((text) => text.split(',').every(isKind), {
    error: `must name some of ${streamKinds.join(', ')}`,
    abort: true,
  })
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(streamKinds)).min(1))
  .transform((kinds): readonly StreamKind[] => [...new Set(kinds)]);

export const streamChanges = route({
  method: 'GET',
  path: '/api/stream',
  operationId: 'streamChanges',
  summary: 'What changes, as it happens',
  description:
    'Server-sent events: `task`, `execution` and `delivery` with the document as the lists give it, `removed` with `{ kind, id }`, and `gap` where something was left out: read again. A comment every 15 s keeps the connection open. With `Last-Event-ID` it goes on where it broke off, over restarts and from any gateway; an id that was never given, or is too old, begins with a `gap`. A reader that is more than 1,000 events or 1 MB behind gets one `gap`. At most 20 streams per account or key at each gateway process (429 `too_many_streams`); a stream ends within 30 s when its key does.',
  tag: 'Operations',
  access: 'read',
  reads: () => [recentRunsView.name],
  query: z.strictObject({
    types: kindList.optional().meta({ description: 'Some of `task,execution,delivery`.', example: 'task,delivery' }),
    notificationId: idSchema('ntf').optional().meta({ example: 'ntf_01kbq8t1v4e7k2m9x3r5w6y8za' }),
  }),
  answers: [
    {
      status: 200,
      description: 'The stream.',
      envelope: 'none',
      contentType: 'text/event-stream',
    },
  ],
  errors: [404],
});
