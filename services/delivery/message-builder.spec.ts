import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aNotification } from '#channels/notification.kit';
import type { BuildContext, OpenNotification } from '#channels/channel';
import { derivedId } from '#runtime/ids';
import { silentLogger } from '#runtime/logger';
import { createMessageBuilder, type MessageBuilder } from './message-builder.js';

const context: BuildContext = { nowMs: 0, linkBase: 'https://meerkat.example', mailFrom: 'a@example.com' };

/** `values.list` has 5,000 entries. */
function message(body: string, organization = 'one'): OpenNotification {
  const request = {
    ...aNotification({ organizationId: derivedId('org', 0, organization) }),
  };
  const list = Array.from({ length: 5_000 }, (_, at) => ({ at, text: `entry ${at}` }));
  const execution = { ...request.context.execution, values: { list, word: 'a'.repeat(60_000) } };
  return {
    request: { ...request, context: { ...request.context, execution } },
    config: { url: 'https://hooks.example/in', method: 'POST', headers: {}, body },
  };
}

/** Loops that are long and write nothing: what they cost is the clock's to bound. */
const nestedLoops = (depth: number): string =>
  '{% for a in values.list %}'.repeat(depth) + '{% endfor %}'.repeat(depth);

/** Evaluates millions of arguments, which the engine does not count. */
const spin = `{% for a in values.list %}{% cycle ${"'x',".repeat(5_000)}'y' %}{% endfor %}`;

describe('a builder of messages', () => {
  let builder: MessageBuilder;
  let warned: string[];
  beforeEach(() => {
    warned = [];
    const logger = { ...silentLogger, warn: (_fields: object, line: string) => void warned.push(line) };
    builder = createMessageBuilder(logger, { buildMs: 300 });
  });
  afterEach(() => builder.close());

  const built = async (notification: OpenNotification) => {
    const made = await builder.build('webhook', notification, context);
    if (made.kind === 'http') return made.requests[0]?.body ?? null;
    return made.kind === 'none' ? made.verdict : made.kind;
  };

  it('renders the templates of a message', async () => {
    expect(await built(message('{"n": {{ values.list.size }}, "task": "{{ task.name }}"}'))).toBe(
      '{"n": 5000, "task": "Price watch"}',
    );
  });

  it('builds what holds no more than a few variables itself, and all else in the thread', async () => {
    await builder.close();
    builder = createMessageBuilder(silentLogger, { maxWaiting: 0 });
    expect(await built(message('{"task": "{{ task.name }}", "at": "{{execution.finishedAt}}"}'))).toContain(
      'Price watch',
    );
    for (const text of [
      '{{ task.name | upcase }}',
      '{% if true %}a{% endif %}',
      '{{ task.name }}'.repeat(21),
      '{{ task["name"] }}',
    ])
      await expect(built(message(text))).rejects.toThrow('Too many messages wait');
  });

  it.each([
    ['loops inside loops', nestedLoops(4)],
    ['a cycle of five thousand', `{% for a in values.list %}{% cycle ${"'x',".repeat(5_000)}'y' %}{% endfor %}`],
    [
      'text that doubles',
      `{% assign t = values.word %}{% for i in (1..60) %}{% assign t = t | append: t %}{% endfor %}{{ t }}`,
    ],
    ['a replacement that grows', "{{ values.word | replace: 'a', values.word }}"],
    ['a sort in a loop', "{% for a in values.list %}{% assign s = values.list | sort: 'text' %}{% endfor %}"],
  ])('ends %s, or refuses it, and builds the next message', async (_name, body) => {
    const ended = await builder.build('webhook', message(body), context).catch((error: unknown) => error);
    const reason =
      ended instanceof Error
        ? (ended as { reason?: string }).reason
        : (ended as { verdict?: { reason: string } }).verdict?.reason;
    expect(['template_failed', 'template_timed_out']).toContain(reason);
    expect(await built(message('{{ task.name }}', 'other'))).toBe('Price watch');
  });

  it.each(['where_exp', 'find_exp', 'has_exp', 'group_by_exp', 'reject_exp', 'find_index_exp'])(
    'knows no filter %s, whose cost cannot be counted',
    async (filter) => {
      const body = `{{ values.list | ${filter}: 'a', 'a.at > 1' }}`;
      await expect(builder.build('webhook', message(body), context)).rejects.toMatchObject({
        reason: 'template_failed',
      });
    },
  );

  it('keeps the loop of the process free while a template is being ended', async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await built(message(spin)).finally(() => {
      isOver = true;
    });
    expect(turns).toBeGreaterThan(100);
  });

  it('builds messages of an organisation apart once a template of it was ended, so that others do not wait', async () => {
    expect(await built(message(spin, 'hostile'))).toMatchObject({ state: 'retry', reason: 'template_timed_out' });
    const order: string[] = [];
    const hostile = Array.from({ length: 5 }, () => built(message(spin, 'hostile')).then(() => order.push('hostile')));
    await built(message('{{ task.name }}', 'other')).then(() => order.push('other'));
    // In one line with them it would come last; apart, it needs a thread of its own, while one of them may be ended.
    expect(order.length).toBeLessThan(6);
    await Promise.all(hostile);
    expect(warned).toHaveLength(6);
  });

  it('refuses more messages than may wait', async () => {
    const few = createMessageBuilder(silentLogger, { maxWaiting: 1 });
    const all = await Promise.allSettled(
      Array.from({ length: 3 }, () => few.build('webhook', message('{{ task.name | upcase }}'), context)),
    );
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await few.close();
  });
});
