/** Between the gateway and what it reads and asks: views give JSON, the bus takes JSON. The only place here that casts. */
import { z } from 'zod';
import type { TaskState } from '#contracts/task';
import type { Json, JsonObject } from '#runtime/json';

/** A value that JSON can hold, as the ports name it. */
export function toJsonObject(value: object): JsonObject {
  return value as JsonObject;
}

/** The answer to `task.change`: the state was checked when its events were encoded. */
const changedTask = z.object({ state: z.custom<TaskState>(), position: z.number().nullable() });

export function asChangedTask(reply: Json): z.output<typeof changedTask> {
  return changedTask.parse(reply);
}

/** A document as it is answered: without what is ours alone. */
export function without<Document extends object>(
  document: Document,
  ...names: readonly (keyof Document & string)[]
): object {
  const hidden: readonly string[] = names;
  return Object.fromEntries(Object.entries(document).filter(([name]) => !hidden.includes(name)));
}
