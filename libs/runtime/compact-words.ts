/**
 * What compact JSON says by number: words that stand in nearly every event and document of runs, and the members that objects of
 * theirs have. What is stored counts on these numbers for ever: a list is never changed, more is added at its end.
 */

/** The first 61 take one byte, the others two or three. */
export const words: readonly string[] = [
  ['id', 'type', 'at', 'taskId', 'runId', 'organizationId', 'notificationId', 'executionId', 'deliveryId', 'action'],
  ['config', 'kind', 'from', 'to', 'reason', 'message', 'status', 'outcome', 'values', 'value', 'text', 'name', 'url'],
  ['error', 'level', 'log', 'line', 'column', 'hint', 'price', 'title', 'currency', 'count', 'request', 'state'],
  ['schedule', 'interval', 'latest', 'none', 'manual', 'succeeded', 'failed', 'skipped', 'ok', 'unknown', 'true'],
  ['false', 'not_true', 'not_changed', 'condition', 'health', 'triggered', 'recovered', 'numbers', 'pending', 'sent'],
  ['episode', 'first', 'last', 'webhook', 'attempt'],
  // Of two bytes from here on.
  [
    'owner',
    'plan',
    'run',
    'result',
    'decision',
    'late',
    'notifications',
    'alert',
    'page',
    'timings',
    'transition',
    'previous',
  ],
  ['trigger', 'scheduledFor', 'queuedAt', 'startedAt', 'finishedAt', 'snapshotId', 'seed', 'revision', 'taskRevision'],
  ['force', 'dryRun', 'logs', 'finalUrl', 'bytes', 'contentHash', 'fromCache', 'queueMs', 'fetchMs', 'parseMs'],
  ['evaluateMs', 'notify', 'told', 'consecutiveErrors', 'healthEpisode', 'healthTold', 'codeRevision', 'lastSlot'],
  ['recentRuns', 'nextDueAt', 'nextSlotAt', 'queuedSlotAt', 'highWaterMark', 'skipping', 'active', 'intervalSeconds'],
  ['catchUp', 'cron', 'timezone', 'windows', 'jitterSeconds', 'overlap', 'queue', 'skip', 'startAt', 'endAt', 'once'],
  ['timesEnded', 'ownNetworkSince', 'outcomes', 'flapping', 'held', 'healthHeld', 'triggeredAt', 'notifiedAt'],
  ['lastValue', 'pendingValue', 'actions', 'digests', 'by', 'until', 'shadow', 'screenshotId', 'refused', 'address'],
  ['timed_out', 'cancelled', 'queued', 'running', 'became_true', 'every_true', 'changed', 'sha256:', 'test', 'email'],
  ['notification.requested:', 'worker', 'timeoutMs', 'method', 'POST', 'GET', 'delivered', 'retrying', 'expired'],
  ['next', 'nextAttemptAt', 'settled', 'response', 'durationMs', 'part', 'receipt', 'body', 'enabled', 'on', 'policy'],
  ['retry', 'hold', 'expireAfterSeconds', 'digestSeconds', 'afterSeconds', 'retryUnknown', 'context', 'task', 'tags'],
  ['execution', 'description', 'createdAt', 'expiresAt', 'openedBy', 'follows', 'heldUntil', 'provided', 'is', 'after'],
  ['gatheredBy', 'points', 'before', 'excerpt', 'linkBase', 'slots', 'slotAt', 'catch_up_none', 'missed', 'backs_off'],
  ['http_status', 'shutdown', 'The site answered ', 'The site did not answer within 30 s.', 'EUR', 'USD', '$erased'],
  ['headers', 'subject', 'critical', 'no_actions', 'blocked', '$sealed'],
].flat();

const plan = ['taskId', 'taskRevision', 'schedule', 'active', 'nextDueAt', 'highWaterMark'] as const;
const result = [
  ['runId', 'taskId', 'taskRevision', 'trigger', 'force', 'dryRun', 'status', 'outcome', 'values', 'logs', 'error'],
  ['page', 'snapshotId', 'scheduledFor', 'queuedAt', 'startedAt', 'finishedAt', 'timings', 'seed'],
].flat();
const alert = [
  ['condition', 'told', 'health', 'consecutiveErrors', 'episode', 'healthEpisode', 'healthTold', 'codeRevision'],
  ['lastSlot', 'recentRuns', 'previous', 'state'],
].flat();
const execution = [
  ['id', 'organizationId', 'notificationId', 'revision', 'trigger', 'status', 'outcome', 'values', 'logs', 'error'],
  ['decision', 'snapshotId', 'page', 'scheduledFor', 'queuedAt', 'startedAt', 'finishedAt', 'timings', 'seed'],
].flat();

/** The members of objects, in their order. The first 16 take one byte, the others two or three. */
export const shapes: readonly (readonly string[])[] = [
  ['$sealed'],
  ['plan', 'run', 'skipped'],
  plan,
  ['type', 'intervalSeconds', 'catchUp'],
  ['runId', 'taskId', 'trigger', 'scheduledFor', 'queuedAt', 'force', 'dryRun'],
  ['result', 'decision', 'late', 'notifications', 'alert'],
  result,
  ['finalUrl', 'status', 'bytes', 'contentHash', 'fromCache'],
  ['queueMs', 'fetchMs', 'parseMs', 'evaluateMs'],
  ['notify', 'reason', 'transition'],
  alert,
  [...alert, 'numbers'],
  ['outcome', 'values', 'at'],
  execution,
  ['organizationId', 'actor', 'requestId', 'causationId', 'at', 'data'],
  ['kind', 'from', 'to'],
  ['reason', 'message'],
  ['type', 'cron', 'catchUp'],
  ['level', 'message'],
  [...result, 'hint'],
  [...alert, 'lastValue'],
  [...alert, 'numbers', 'lastValue'],
  ['result', 'decision', 'late', 'notifications', 'alert', 'shadow'],
  ['attempt', 'at', 'timeoutMs', 'worker', 'request'],
  ['attempt', 'at', 'result', 'settled', 'next'],
  ['durationMs', 'request', 'response', 'error'],
  ['method', 'url'],
  ['status', 'body'],
  [...plan, 'skipping'],
  ['plan', 'slots', 'reason'],
  ['from', 'to', 'count'],
  ['plan', 'run'],
  ['run', 'startedAt', 'worker'],
];

/** Of ids, in the order of the bytes that stand for them. */
export const packedPrefixes = ['ntf', 'act', 'exe', 'dlv', 'snp', 'key', 'org', 'usr', 'req', 'evt'] as const;
