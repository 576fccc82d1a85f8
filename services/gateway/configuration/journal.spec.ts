import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { derivedId } from '#runtime/ids';
import { createSqliteEventStore } from '#event-store/sqlite';
import type { Leases } from '#leases/leases';
import { createSoleLeases } from '#leases/sole';
import { createSqliteReadStore } from '#read-store/sqlite';
import { createDocumentState } from '#shared-state/document-state';
import { createEventVault } from '#vault/event-vault';
import { ApplyJournals, type Journal, type Step, type UnreadableStep } from './journal.js';

const organizationId = 'org_01jd0000000000000000000000';
const context = { organizationId, actor: 'key:one', requestId: 'req-1' };
const counts = { created: 0, updated: 0, archived: 2 };
const archiveOf = (index: number): Step => ({ kind: 'archive', taskId: derivedId('ntf', 1, String(index)) });

let eventStore: ReturnType<typeof createSqliteEventStore>;
let readStore: ReturnType<typeof createSqliteReadStore>;
let dead: Set<string>;

beforeEach(() => {
  eventStore = createSqliteEventStore(':memory:');
  readStore = createSqliteReadStore(':memory:');
  dead = new Set();
});
afterEach(async () => {
  await readStore.close();
  await eventStore.close();
});

const sharedState = () => createDocumentState(readStore);

/** Of a process with this name; the others live unless they are said to be dead. */
function journalsOf(memberId: string): ApplyJournals {
  const leases: Leases = { ...createSoleLeases(), memberId, isLiving: (id) => !dead.has(id) };
  return new ApplyJournals(sharedState(), createEventVault(eventStore, Buffer.alloc(32, 7)), leases);
}

async function begin(journals: ApplyJournals): Promise<Journal> {
  const begun = await journals.begin(context);
  if (begun === null) throw new Error('another one was begun');
  return begun;
}

const storedSteps = { name: 'apply_journal_steps', fields: [], indexes: [] };
const everything = { where: [], sort: [], limit: 10, offset: 0, count: false };

async function stepsOf(journals: ApplyJournals, journal: Journal): Promise<readonly (Step | UnreadableStep)[]> {
  const steps: (Step | UnreadableStep)[] = [];
  for await (const one of journals.steps(journal)) steps.push(one);
  return steps;
}

describe('the journal of a configuration file', () => {
  it('is left behind by a process that died, with what it decided in its order', async () => {
    const [one, other] = [journalsOf('one'), journalsOf('other')];
    const steps = Array.from({ length: 450 }, (_, index) => archiveOf(index));
    await one.decide(await begin(one), steps, counts);
    expect(await other.leftBehind(organizationId)).toBeNull();
    dead.add('one');
    const left = await other.leftBehind(organizationId);
    expect(left).toMatchObject({ ...context, isDecided: true, counts });
    expect(left === null ? [] : await stepsOf(other, left)).toEqual(steps);
    if (left !== null) await other.end(left);
    expect([await other.leftBehind(organizationId), await other.organizations()]).toEqual([null, []]);
    expect(left === null ? [] : await stepsOf(other, left)).toEqual([]);
  });

  it('says that nothing was decided where the process died before', async () => {
    const [one, other] = [journalsOf('one'), journalsOf('other')];
    await one.begin(context);
    dead.add('one');
    expect(await other.leftBehind(organizationId)).toMatchObject({ isDecided: false, steps: 0 });
  });

  it('is one at a time, over all processes', async () => {
    const [one, other] = [journalsOf('one'), journalsOf('other')];
    const begun = await Promise.all([one.begin(context), other.begin(context)]);
    const [first, ...more] = begun.filter((journal) => journal !== null);
    expect([first?.organizationId, more]).toEqual([organizationId, []]);
    if (first !== undefined) await one.end(first);
    expect(await other.begin(context)).not.toBeNull();
  });

  it('that could not be decided leaves none of its steps', async () => {
    const journals = journalsOf('one');
    const begun = await begin(journals);
    await journals.decide(begun, [archiveOf(1), archiveOf(2)], counts);
    await journals.end(begun);
    const { documents } = await readStore.page(storedSteps, everything);
    expect([documents, await journals.organizations()]).toEqual([[], []]);
  });

  it('ends alone: that of the next one stays', async () => {
    const [one, other] = [journalsOf('one'), journalsOf('other')];
    const first = await begin(one);
    await one.end(first);
    await other.begin(context);
    await one.end(first);
    dead.add('other');
    expect(await one.leftBehind(organizationId)).not.toBeNull();
  });

  it('holds nothing in clear, and leaves out what was sealed for a task whose key is gone', async () => {
    const journals = journalsOf('one');
    const begun = await begin(journals);
    const url = 'https://crew.example/hidden-address';
    const contact: Step = { kind: 'contact', contact: { name: 'crew', type: 'webhook', config: { url } } };
    const decided = await journals.decide(begun, [contact, archiveOf(1)], counts);
    expect(await stepsOf(journals, decided)).toMatchObject([
      { kind: 'contact', contact: { name: 'crew' } },
      archiveOf(1),
    ]);
    const { documents } = await readStore.page(storedSteps, everything);
    expect(documents).toHaveLength(2);
    expect(JSON.stringify(documents)).not.toContain('hidden-address');
    const sealedByAnother = new ApplyJournals(
      sharedState(),
      createEventVault(createSqliteEventStore(':memory:'), Buffer.alloc(32, 7)),
      { ...createSoleLeases(), memberId: 'one' },
    );
    expect(await stepsOf(sealedByAnother, decided)).toEqual([]);
  });
});
