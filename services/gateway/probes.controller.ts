/** For load balancers and Prometheus: alive, ready by part, metrics. */
import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { BUS_ADMIN, type BusAdmin } from '#bus/bus';
import { withTimeoutOr } from '#concurrency/timeout';
import { foldingState, foldingStateKey } from '#contracts/folding-state';
import { tasksView } from '#contracts/task';
import { APPEND_HEALTH, type AppendHealth } from '#event-store/append-health';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { failingFollowers } from '#eventing/failing-followers';
import { data, text, type Answer } from '#http/envelope';
import { FrontDoor } from '#http/front-door';
import { Handles, route } from '#http/route';
import { BUILT_VIEWS, type BuiltViews } from '#read-store/built-views';
import type { LateViews } from '#read-store/late-views';
import { noPrimary, READ_STORE, type ReadStore } from '#read-store/read-store';
import { DISK_SPACE, type DiskSpace } from '#runtime/disk-space';
import { AppError } from '#runtime/errors';
import { metricsText } from '#runtime/metrics';
import { SHARED_STATE, type SharedState } from '#shared-state/shared-state';

const tag = 'Operations';

const health = route({
  method: 'GET',
  path: '/healthz',
  operationId: 'isAlive',
  summary: 'The process is alive',
  tag,
  access: 'probe',
  answers: [
    {
      status: 200,
      description: 'Alive.',
      envelope: 'data',
      schema: z.object({ status: z.literal('alive').describe('It is.') }),
    },
  ],
});

const eventStoreState = z.enum(['ok', 'unreachable', 'read_only']);
const busState = z.enum(['ok', 'unreachable', 'no_leader', 'not_joined']);
const readStoreState = z.enum(['ok', 'unreachable', 'no_primary']);
const viewsState = z.enum(['ok', 'being_built', 'catching_up', 'failing', 'unreachable']);
const diskState = z.enum(['ok', 'nearly_full', 'full', 'gone']);
const parts = z.object({
  eventStore: eventStoreState.describe(
    'Where events are. `read_only`: it answers, and the last ones could not be written.',
  ),
  bus: busState.describe(
    'What the services talk over. `no_leader`: a partition has none; `not_joined`: this process gets no messages yet.',
  ),
  readStore: readStoreState.describe('Where the views are. `no_primary`: no member of its replica set takes writes.'),
  views: viewsState.describe(
    'Whether they have seen the events. `catching_up`: not yet all of those from before the start; `failing`: what follows the events in this process has failed for a minute, the log says at which and why.',
  ),
  disk: diskState.describe('Whether there is room for events; `gone`: the data folder was removed or replaced.'),
  archive: z
    .enum(['ok', 'failing'])
    .describe('Whether folded days can be archived, where they are; until they can nothing is folded.'),
});
type Parts = Omit<z.infer<typeof parts>, 'views' | 'disk' | 'archive'>;

const readiness = route({
  method: 'GET',
  path: '/readyz',
  operationId: 'isReady',
  summary: 'The process can do its work, by part',
  tag,
  access: 'probe',
  answers: [
    {
      status: 200,
      description: 'Ready.',
      envelope: 'data',
      schema: z.object({ status: z.literal('ready').describe('It is.'), parts: parts.describe('By part.') }),
    },
  ],
});

const metrics = route({
  method: 'GET',
  path: '/metrics',
  operationId: 'getMetrics',
  summary: 'Metrics for Prometheus',
  tag,
  access: 'probe',
  answers: [{ status: 200, description: 'Exposition text.', envelope: 'none', contentType: 'text/plain' }],
});

/** A part that takes longer than this does not count as reachable. */
const partTimeoutMs = 3_500;
/** Probes come from several sides; the parts are asked once for all of them. */
const rememberedMs = 250;

/** `named`: what a failure is called that is not silence. */
function stateOf<State extends string>(
  question: Promise<State>,
  named: (error: unknown) => State | null = () => null,
): Promise<State | 'unreachable'> {
  const answered: Promise<State | 'unreachable'> = question.catch((error: unknown) => named(error) ?? 'unreachable');
  return withTimeoutOr(answered, partTimeoutMs, 'unreachable');
}

@Controller()
export class ProbesController {
  #asked: { readonly parts: Promise<Parts>; readonly atMs: number } | null = null;

  constructor(
    @Inject(EVENT_STORE) private readonly eventStore: EventStore,
    @Inject(APPEND_HEALTH) private readonly appends: AppendHealth,
    @Inject(BUS_ADMIN) private readonly bus: BusAdmin,
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(BUILT_VIEWS) private readonly views: BuiltViews & LateViews,
    @Inject(DISK_SPACE) private readonly disk: DiskSpace,
    @Inject(SHARED_STATE) private readonly sharedState: SharedState,
    @Inject(FrontDoor) private readonly frontDoor: FrontDoor,
  ) {}

  @Handles(health)
  isAlive(): Answer {
    return data({ status: 'alive' });
  }

  @Handles(readiness)
  async isReady(): Promise<Answer> {
    if (this.frontDoor.stopSignal.aborted) throw notReady('This process is stopping.', []);
    const asked = await this.#parts();
    const states = {
      ...asked,
      ...(asked.eventStore === 'ok' && this.appends.isFailing ? { eventStore: 'read_only' as const } : {}),
      views: await this.#viewsState(),
      disk: this.disk.state,
      archive: await this.#archiveState(),
    };
    // Without an archive, and beside a view that stands still, everything else goes on.
    const failing = Object.entries(states).filter(([, state]) => !['ok', 'nearly_full', 'failing'].includes(state));
    if (failing.length > 0) throw notReady(`Not ready: ${failing.map(([part]) => part).join(', ')}.`, failing);
    return data({ status: 'ready', parts: states });
  }

  @Handles(metrics)
  async metrics(): Promise<Answer> {
    const { contentType, text: exposition } = await metricsText();
    return text(exposition, contentType);
  }

  #parts(): Promise<Parts> {
    const nowMs = performance.now();
    if (this.#asked === null || nowMs - this.#asked.atMs > rememberedMs) {
      this.#asked = { parts: this.#askParts(), atMs: nowMs };
    }
    return this.#asked.parts;
  }

  async #askParts(): Promise<Parts> {
    const [eventStore, bus, readStore] = await Promise.all([
      stateOf<Parts['eventStore']>(this.eventStore.readLast('readiness').then(() => 'ok')),
      stateOf(this.bus.health()),
      stateOf<Parts['readStore']>(
        this.readStore.checkpoint(tasksView).then(() => 'ok'),
        (error) => (error instanceof AppError && error.reason === noPrimary ? 'no_primary' : null),
      ),
    ]);
    return { eventStore, bus, readStore };
  }

  #archiveState(): Promise<'ok' | 'failing'> {
    const state = this.sharedState.load(foldingState, [foldingStateKey]).then(
      (known) => (typeof known.get(foldingStateKey)?.value?.archiveFault === 'string' ? 'failing' : 'ok'),
      () => 'ok' as const,
    );
    return withTimeoutOr(state, partTimeoutMs, 'ok');
  }

  #viewsState(): Promise<z.infer<typeof viewsState>> {
    const look = async (): Promise<z.infer<typeof viewsState>> => {
      if ((await this.views.unbuilt()).length > 0) return 'being_built';
      if ((await this.views.late()).length > 0) return 'catching_up';
      return failingFollowers().length > 0 ? 'failing' : 'ok';
    };
    return stateOf(look());
  }
}

const unreachablePart = { rule: 'reachable', message: 'does not answer' };
const faults: ReadonlyMap<string, typeof unreachablePart> = new Map([
  ['full', { rule: 'writable', message: 'has no room left' }],
  ['gone', { rule: 'present', message: 'is no longer there: the data folder was removed or replaced' }],
  ['read_only', { rule: 'writable', message: 'answers, and takes no events' }],
  ['no_leader', { rule: 'writable', message: 'has a partition without a leader' }],
  ['not_joined', { rule: 'joined', message: 'gives this process no messages yet' }],
  ['no_primary', { rule: 'writable', message: 'has no primary' }],
  ['being_built', { rule: 'built', message: 'are being built from the recorded events' }],
  ['catching_up', { rule: 'caught_up', message: 'have not seen all events from before the start yet' }],
]);

function notReady(message: string, failing: readonly (readonly [string, string])[]): AppError {
  return new AppError('SERVER_ERROR', 'not_ready', message, {
    retryAfterSeconds: 1,
    details: failing.map(([field, state]) => ({ field, ...(faults.get(state) ?? unreachablePart) })),
  });
}
