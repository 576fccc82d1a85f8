import { describe, expect, it } from '@jest/globals';
import { actorOfResource, typedActor, typedResource, type Named } from './typed-names.js';

const id = (kind: string, last: string): string => `${kind}_01kbq8t1v4e7k2m9x3r5w6y8z${last}`;
const [ann, ben, stranger] = ['a', 'b', 'c'].map((last) => id('usr', last)) as [string, string, string];
const [ci, other, task, action] = [id('key', 'a'), id('key', 'b'), id('ntf', 'a'), id('act', 'a')];

const actors: readonly Named[] = [
  { ref: `user:${ann}`, shown: 'ann@example.com', name: 'ann@example.com' },
  { ref: `user:${ben}`, shown: 'Ben@Example.com', name: 'Ben@Example.com' },
  { ref: `key:${ci}`, shown: 'key “CI”', name: 'CI' },
  { ref: `key:${other}`, shown: 'key “ci”', name: 'ci' },
];
const tasks: readonly Named[] = [{ ref: task, shown: 'Price of chairs', name: 'Price of chairs' }];

describe('who is looked for in the audit', () => {
  it.each([
    ['a member, by the address', 'ann@example.com', `user:${ann}`],
    ['a member, by the address in other letter case', ' ANN@example.COM ', `user:${ann}`],
    ['a key, by what the list shows', 'key “CI”', `key:${ci}`],
    ['a key, by its name', 'CI', `key:${ci}`],
    ['the one of two keys that is written like that', 'ci', `key:${other}`],
    ['somebody who is no member, by what the list shows', `not a member: user:${stranger}`, `user:${stranger}`],
    ['the same in German', `kein Mitglied: user:${stranger}`, `user:${stranger}`],
    ['a member, by the id alone', stranger, `user:${stranger}`],
    ['a key, by the id alone', id('key', 'z'), `key:${id('key', 'z')}`],
    ['an id that was written large', stranger.toUpperCase(), `user:${stranger}`],
    ['the link of an action', `link:${action}`, `link:${action}`],
    ['the link of an action, by the id of the action', action, `link:${action}`],
    ['a part of the product', 'system:delivery', 'system:delivery'],
    ['nothing', ' ', ''],
    ['what nobody is called: the API says what it takes', 'somebody', 'somebody'],
  ])('is %s', (_what, typed, asked) => {
    expect(typedActor(typed, actors)).toBe(asked);
  });
});

describe('what is looked for in the audit', () => {
  it.each([
    ['a task, by its name', 'Price of chairs', task],
    ['a task, by its name in other letter case', 'price of CHAIRS', task],
    ['a task, by its id', task, task],
    ['a member, by the address', 'Ann@example.com', ann],
    ['a key, by its name', 'CI', ci],
    ['a key, by what the list shows', 'key “CI”', ci],
    ['somebody who is no member, by what the list shows', `not a member: user:${stranger}`, stranger],
    ['a member, as actors are written', `user:${stranger}`, stranger],
    ['a member, by the id alone', stranger, stranger],
    ['a contact, by its name', 'on-call', 'on-call'],
    ['nothing', ' ', ''],
  ])('is %s', (_what, typed, asked) => {
    expect(typedResource(typed, tasks, actors)).toBe(asked);
  });

  it('is a task before a key of the same name', () => {
    expect(typedResource('CI', [{ ref: task, shown: 'CI', name: 'CI' }], actors)).toBe(task);
  });
});

describe('the name of a resource', () => {
  it('is that of a member or key; a task and a contact have others', () => {
    expect([ann, ci, task, 'on-call'].map(actorOfResource)).toEqual([`user:${ann}`, `key:${ci}`, null, null]);
  });
});
