/** Checks docs/distributed.md against the code that it describes. */
import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTopics, type Topic } from '#bus/kafka-topics';
import { requests, topics } from '#contracts/catalogue';
import { idempotencyCollection } from '#http/idempotency';
import { quotaCollection } from '#http/quota';
import { leaseMembersCollection } from '#leases/members';
import { leasesCollection } from '#leases/shared';
import { rebuildsCollection } from '#eventing/rebuild/requests';
import { roles } from '#runtime/settings';
import { silentLogger } from '#runtime/logger';
import { attemptsCollection } from '../../services/accounts/attempts.js';
import { keptViews } from '../../services/host/projections.js';

const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const text = (path: string): Promise<string> => readFile(join(repository, path), 'utf8');
const guide = await text('docs/distributed.md');
const flowing = guide.replaceAll(/\s+/g, ' ');

const made = createTopics({
  brokers: ['127.0.0.1:9'],
  tls: false,
  credentials: null,
  installation: 'i',
  processName: 'guide',
  logger: silentLogger,
});

const hours: Readonly<Record<string, number>> = { day: 24, days: 24, hour: 1, hours: 1 };

/** Partitions and life of the topics in the row that begins with these names. */
function told(names: string): Pick<Topic, 'partitions' | 'retentionMs'> | null {
  const line = guide.split('\n').find((row) => row.startsWith(`| ${names} `)) ?? '';
  const [, , partitions = '', kept = ''] = line.split('|').map((cell) => cell.trim());
  const [, amount, unit = ''] = /^([0-9]+) (\w+)$/.exec(kept) ?? [];
  const retentionMs = Number(amount) * (hours[unit] ?? Number.NaN) * 3_600_000;
  return { partitions: Number(partitions), retentionMs };
}

const facts = ({ partitions, retentionMs }: Topic): unknown => ({ partitions, retentionMs });

describe('the guide to the distributed mode', () => {
  it('lists the topics as they are created', () => {
    expect(told(topics.map((topic) => `\`<i>.${topic}\``).join(', '))).toEqual(facts(made.messages('task')));
    expect(told('`<i>.<topic>.retry`')).toEqual(facts(made.retries('task')));
    expect(told('`<i>.<topic>.dlq`')).toEqual(facts(made.deadLetters('task')));
    const asked = [...new Set(Object.values(requests).map((name) => name.split('.')[0] ?? ''))];
    const [first = '', ...others] = asked;
    const shown = [`\`<i>.requests.${first}\``, ...others.map((service) => `\`….${service}\``)].join(', ');
    expect(told(shown)).toEqual(facts(made.requests(first)));
    expect(told('`<i>.replies.all`')).toEqual(facts(made.replies));
    expect(made.replies.name).toBe('i.replies.all');
  });

  it('lists every view, and every collection that is not a view', () => {
    const named = (views: readonly { readonly name: string }[]): string =>
      views.map(({ name }) => `\`${name}\``).join(', ');
    expect(flowing).toContain(`dropped: ${named(keptViews)}.`);
    const others = [
      quotaCollection,
      idempotencyCollection,
      attemptsCollection,
      rebuildsCollection,
      leasesCollection,
      leaseMembersCollection,
    ];
    expect(flowing).toContain(`Not from events: ${named(others)}.`);
  });

  it('describes each role', () => {
    for (const role of roles) expect(guide).toMatch(new RegExp(`^\\| \`${role}\` `, 'm'));
  });

  it('upgrades each role, in the order that the page of upgrades has too', async () => {
    const [, section = ''] = flowing.split('## Rolling upgrade');
    const [, listed = ''] = /what it does not know: ([^.]*)\./.exec(section) ?? [];
    const [, looped = ''] = /for role in ([a-z ]+); do/.exec(section) ?? [];
    const upgrades = (await text('docs/upgrade.md')).replaceAll(/\s+/g, ' ');
    expect(looped.split(' ').toSorted()).toEqual([...roles].toSorted());
    expect(listed.replaceAll('`', '').split(', ')).toEqual(looped.split(' '));
    expect(upgrades).toContain(`order ${listed}.`);
  });

  it('points to files and npm scripts that exist', async () => {
    const { scripts } = JSON.parse(await text('package.json')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const targets = [...guide.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, target]) => target ?? '');
    expect(targets.filter((target) => !existsSync(join(repository, 'docs', target)))).toEqual([]);
    const called = [...guide.matchAll(/npm run ([a-z:]+)/g)].map(([, script]) => script ?? '');
    expect(called.filter((script) => scripts[script] === undefined)).toEqual([]);
    const files = [...guide.matchAll(/`(deploy\/docker\/[\w.-]+\.\w+)`|(deploy\/docker\/[\w-]+\.(?:sh|yml))/g)];
    expect(files.filter(([, quoted, bare]) => !existsSync(join(repository, quoted ?? bare ?? '')))).toEqual([]);
  });

  it('quotes log lines as the code writes them', async () => {
    const sources = await Promise.all(
      [
        'libs/bus/handle-message.ts',
        'libs/bus/kafka-member.ts',
        'libs/bus/kafka-topics.ts',
        'libs/eventing/follower.ts',
        'libs/leases/shared.ts',
        'libs/leases/sweep.ts',
        'libs/read-store/mongo-view.ts',
        'libs/eventing/store-rewind.ts',
        'services/scheduling/timer.ts',
        'services/execution/redispatch.ts',
      ].map(text),
    );
    const rows = guide.split('\n').filter((row) => row.startsWith('| log, '));
    const lines = rows.flatMap((row) => [...row.matchAll(/`([a-z][a-z ;]+ [a-z ]+)`/g)].map(([, line]) => line ?? ''));
    expect(lines.length).toBeGreaterThan(6);
    expect(lines.filter((line) => !sources.some((source) => source.includes(line)))).toEqual([]);
  });
});
