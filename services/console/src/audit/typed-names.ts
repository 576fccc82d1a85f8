/** What is typed into the filter of the audit, as the API takes it: the texts that the list shows stand for ids. Pure. */

/** Somebody who acts, or a task: by id, by what lists show, and by the name alone. */
export interface Named {
  /** `user:usr_…`, `key:key_…`, or the id of a task. */
  readonly ref: string;
  readonly shown: string;
  readonly name: string;
}

const actorWithin = /\b(?:user:usr|key:key|link:act)_[0-9a-z]{26}\b/i;
const bareId = /^(usr|key|act)_[0-9a-z]{26}$/i;
const kinds: Readonly<Record<string, string>> = { usr: 'user', key: 'key', act: 'link' };

/** Letter case tells names apart only where there are several that are alike but for it. */
function named(typed: string, among: readonly Named[]): string | null {
  const alike = (one: string): boolean => one.toLowerCase() === typed.toLowerCase();
  const found =
    among.find(({ shown, name }) => shown === typed || name === typed) ??
    among.find(({ shown, name }) => alike(shown) || alike(name));
  return found?.ref ?? null;
}

/** Ids are written small; an id within other words is what a list shows of somebody who has no name here. */
function actorWritten(typed: string): string | null {
  const within = actorWithin.exec(typed)?.[0];
  if (within !== undefined) return within.toLowerCase();
  const kind = kinds[bareId.exec(typed)?.[1]?.toLowerCase() ?? ''];
  return kind === undefined ? null : `${kind}:${typed.toLowerCase()}`;
}

/** What is none of these goes as it was typed: the API says what it takes. */
export function typedActor(typed: string, actors: readonly Named[]): string {
  const text = typed.trim();
  return named(text, actors) ?? actorWritten(text) ?? text;
}

/** A task before a key of the same name. */
export function typedResource(typed: string, tasks: readonly Named[], actors: readonly Named[]): string {
  const text = typed.trim();
  const ref = named(text, tasks) ?? named(text, actors) ?? actorWritten(text) ?? text;
  return ref.replace(/^(?:user|key|link):/, '');
}

/** Members and keys as those who act: entries name them by their ids alone. */
export function actorOfResource(resource: string): string | null {
  const kind = kinds[resource.slice(0, resource.indexOf('_'))];
  return kind === undefined || kind === 'link' ? null : `${kind}:${resource}`;
}
