/** Actions that go to a contact, with the contact as it is now: what is decided holds it. */
import { contactId, contactsView } from '#contracts/contact';
import type { TaskDocument } from '#contracts/task';
import type { ViewStore } from '#read-store/read-store';

/** Of a contact that is gone nothing is left to send to: such a delivery fails and says so. */
export async function withContacts<Task extends TaskDocument | null>(
  { readStore }: { readonly readStore: Pick<ViewStore, 'get'> },
  task: Task,
): Promise<Task> {
  if (task === null || task.spec.actions.every(({ contact }) => contact === undefined)) return task;
  const actions = await Promise.all(
    task.spec.actions.map(async (action) => {
      if (action.contact === undefined) return action;
      const found = await readStore.get(contactsView, contactId(task.organizationId, action.contact));
      return found === null ? action : { ...action, type: found.type, config: found.config };
    }),
  );
  return { ...task, spec: { ...task.spec, actions } };
}
