/** What the stream brought within a moment, as pages take it: of each thing only how it stood last. */
import type { Delivery, Execution, RecentRuns, Task } from '../api/types.js';
import type { StreamMessage } from './open-stream.js';

export type ChangedTask = Task & { readonly recent?: RecentRuns };

export interface Changes {
  readonly tasks: readonly ChangedTask[];
  readonly executions: readonly Execution[];
  readonly deliveries: readonly Delivery[];
  readonly removed: readonly { readonly kind: string; readonly id: string }[];
}

export type BroughtMessage = Extract<StreamMessage, { readonly data: unknown }>;

/** `messages` as they came, the oldest first. */
export function changesOf(messages: readonly BroughtMessage[]): Changes {
  const lastOf = <Item extends { readonly id: string }>(kind: BroughtMessage['kind']): readonly Item[] => {
    const items = messages.filter((message) => message.kind === kind).map(({ data }) => data as Item);
    return [...new Map(items.map((item) => [item.id, item])).values()];
  };
  return {
    tasks: lastOf('task'),
    executions: lastOf('execution'),
    deliveries: lastOf('delivery'),
    removed: lastOf('removed'),
  };
}

/** What is to be shown of a task: what was read meanwhile may be newer than what the stream brings. */
export const newerOf = (shown: Task | undefined, brought: Task): Task =>
  shown !== undefined && shown.revision > brought.revision ? shown : brought;
