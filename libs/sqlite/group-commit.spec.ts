import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openDatabase, type Database } from './database.js';
import { createGroupCommit } from './group-commit.js';

const forEverMs = 2_000_000;
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('a group commit', () => {
  let database: Database;
  let groups: (readonly string[])[];

  beforeEach(() => {
    database = openDatabase({
      file: ':memory:',
      durability: 'normal',
      schema: 'CREATE TABLE words (word TEXT) STRICT;',
    });
    groups = [];
  });
  afterEach(() => database.close());

  const opened = (options: Parameters<typeof createGroupCommit>[3]) => {
    const add = database.prepare('INSERT INTO words VALUES (?)');
    const write = (word: string): string => {
      if (word === 'bad') throw new Error('it is refused');
      add.run(word);
      return word;
    };
    return createGroupCommit(database, write, (words) => groups.push(words), options);
  };
  const words = () => database.prepare('SELECT word FROM words').all();

  it('writes together what comes in one turn', async () => {
    const group = opened({});
    expect(await Promise.all(['a', 'b', 'c'].map(group.submit))).toEqual(['a', 'b', 'c']);
    expect(groups).toEqual([['a', 'b', 'c']]);
  });

  it('keeps nothing of a group of which one cannot be written, and tells all of it', async () => {
    const group = opened({});
    const settled = await Promise.allSettled(['a', 'bad', 'c'].map(group.submit));
    expect([settled.map(({ status }) => status), words()]).toEqual([['rejected', 'rejected', 'rejected'], []]);
  });

  it('gathers longer behind a group of several than behind a lone write', async () => {
    const group = opened({ gatherAtLeastMs: 0, gatherSeveralMs: forEverMs });
    await group.submit('alone');
    await Promise.all(['a', 'b'].map(group.submit));
    const waiting = ['c', 'd'].map(group.submit);
    await turns();
    expect(groups).toEqual([['alone'], ['a', 'b']]);
    group.flush();
    expect([await Promise.all(waiting), groups.at(-1)]).toEqual([
      ['c', 'd'],
      ['c', 'd'],
    ]);
  });
});
