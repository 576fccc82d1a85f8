/** What the tasks service is asked to do. */
import { z } from 'zod';
import { storedAction } from './action.js';
import { idSchema, storedTimestamp } from './common.js';
import { acknowledged, leftRecipient, shadowSettings, tag, taskStatus, type TaskSpec } from './task.js';

/** A whole specification on its way to the tasks service: it is checked field by field when its event is encoded. */
const wantedSpec = z.custom<TaskSpec>((value) => typeof value === 'object' && value !== null);

/** Of a request with an Idempotency-Key: sent again after a crash, it changes nothing a second time. */
const repeatId = z.string().nullable();

/** What the tasks service is asked to do (`task.change`). `expectedRevision`: If-Match. */
export const taskCommand = z.discriminatedUnion('type', [
  z.object({ type: z.literal('createTask'), taskId: idSchema('ntf'), spec: wantedSpec, status: taskStatus }),
  z.object({
    type: z.literal('replaceTask'),
    taskId: idSchema('ntf'),
    spec: wantedSpec,
    status: taskStatus,
    expectedRevision: z.int().nullable(),
  }),
  z.object({ type: z.literal('archiveTask'), taskId: idSchema('ntf'), expectedRevision: z.int().nullable() }),
  /** `contacts`: names of those that there are. */
  z.object({ type: z.literal('restoreTask'), taskId: idSchema('ntf'), contacts: z.array(z.string()) }),
  /** Of one that is archived, too. */
  z.object({ type: z.literal('purgeTask'), taskId: idSchema('ntf'), expectedRevision: z.int().nullable() }),
  /** What changes nothing goes on as it was. */
  z.object({
    type: z.literal('startShadow'),
    taskId: idSchema('ntf'),
    settings: shadowSettings,
    startedAt: storedTimestamp,
  }),
  z.object({ type: z.enum(['endShadow', 'promoteShadow']), taskId: idSchema('ntf') }),
  z.object({ type: z.literal('acknowledgeTask'), taskId: idSchema('ntf'), ...acknowledged.shape }),
  z.object({ type: z.enum(['leaveRecipients', 'rejoinRecipients']), taskId: idSchema('ntf'), ...leftRecipient.shape }),
  z.object({ type: z.enum(['pauseTask', 'resumeTask']), taskId: idSchema('ntf') }),
  z.object({ type: z.enum(['tagTask', 'untagTask']), taskId: idSchema('ntf'), tags: z.array(tag) }),
  z.object({ type: z.literal('addAction'), taskId: idSchema('ntf'), action: storedAction, repeatId }),
  z.object({
    type: z.literal('replaceAction'),
    taskId: idSchema('ntf'),
    action: storedAction,
    expectedRevision: z.int().nullable(),
    repeatId,
  }),
  z.object({
    type: z.literal('removeAction'),
    taskId: idSchema('ntf'),
    actionId: idSchema('act'),
    expectedRevision: z.int().nullable(),
  }),
  z.object({
    type: z.literal('disableAction'),
    taskId: idSchema('ntf'),
    actionId: idSchema('act'),
    reason: z.string(),
    /** The delivery that found it out: a repeat of it disables nothing that was enabled since. */
    deliveryId: idSchema('dlv'),
    at: storedTimestamp,
  }),
]);
export type TaskCommand = z.infer<typeof taskCommand>;

/** The answer to a `purgeTask`: the event's place. */
export const purgedTask = z.object({ position: z.number() });
