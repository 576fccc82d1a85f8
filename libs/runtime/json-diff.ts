/** What differs between two JSON values, leaf by leaf. */
import { isJsonObject, jsonEquals, ownMember, type Json } from './json.js';

export interface Change {
  readonly path: string;
  readonly from?: Json;
  readonly to?: Json;
}

/** Leaves that differ, by path (`policy.errorThreshold`, `actions[0].enabled`); an absent side has no value. */
export function diffPaths(before: Json | undefined, after: Json | undefined, path = ''): readonly Change[] {
  if (jsonEquals(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) =>
      diffPaths(before[index] as Json | undefined, after[index] as Json | undefined, `${path}[${index}]`),
    ).flat();
  }
  if (isJsonObject(before) && isJsonObject(after) && !('$sealed' in before) && !('$sealed' in after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) =>
      diffPaths(ownMember(before, name), ownMember(after, name), path === '' ? name : `${path}.${name}`),
    );
  }
  return [{ path, ...(before === undefined ? {} : { from: before }), ...(after === undefined ? {} : { to: after }) }];
}
