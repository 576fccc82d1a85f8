/** Between the gateway and what it reads and asks: views give JSON, the bus takes JSON. The only place here that casts. */
import { z } from 'zod';
import type { OrganizationDocument } from '#contracts/account';
import { deliveriesView, type DeliveryDocument } from '#contracts/delivery';
import { executionsView, type ExecutionDocument } from '#contracts/run';
import { tasksView, type TaskDocument, type TaskState } from '#contracts/task';
import type { ReadStore } from '#read-store/read-store';
import { notFound } from '#runtime/errors';
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

type Owned = { readonly organizationId: OrganizationDocument['id'] };

function owned<Document extends Owned>(document: Document | null, organizationId: string, what: string): Document {
  if (document === null || document.organizationId !== organizationId) throw notFound(what);
  return document;
}

/** Throws the same 404 for an unknown task and another organisation's. */
export async function findTask(readStore: ReadStore, organizationId: string, id: string): Promise<TaskDocument> {
  return owned(await readStore.get(tasksView, id), organizationId, 'notification');
}

export async function findExecution(
  readStore: ReadStore,
  organizationId: string,
  id: string,
): Promise<ExecutionDocument> {
  return owned(await readStore.get(executionsView, id), organizationId, 'execution');
}

export async function findDelivery(
  readStore: ReadStore,
  organizationId: string,
  id: string,
): Promise<DeliveryDocument> {
  return owned(await readStore.get(deliveriesView, id), organizationId, 'delivery');
}

/** A document as it is answered: without what is ours alone. */
export function without<Document extends object>(
  document: Document,
  ...names: readonly (keyof Document & string)[]
): object {
  const hidden: readonly string[] = names;
  return Object.fromEntries(Object.entries(document).filter(([name]) => !hidden.includes(name)));
}
