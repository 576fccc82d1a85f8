/** What a notification says, in the forms that channels need: the Standard Webhooks body, template variables, plain text. */
import type { JsonObject } from '#runtime/json';
import type { TemplateVariables } from '#templates/templates';
import type { Notification } from './channel.js';

export function messageTypeOf(request: Pick<Notification, 'kind'>): string {
  return `notification.${request.kind}`;
}

/** `task` and `execution` are pages for people, `api` is the execution for programs. */
export function linksOf(request: Notification, linkBase: string): { task: string; execution: string; api: string } {
  const base = linkBase.replace(/\/+$/, '');
  return {
    task: `${base}/tasks/${request.taskId}`,
    execution: `${base}/executions/${request.executionId}`,
    api: `${base}/api/executions/${request.executionId}`,
  };
}

/** The body of a webhook, and `event` in custom code. Nothing in it depends on the try. */
export function eventOf(request: Notification, linkBase: string): JsonObject {
  const { task: frozen, execution, transition, message } = request.context;
  const { description: _description, ...task } = frozen;
  return {
    type: messageTypeOf(request),
    timestamp: request.createdAt,
    data: { task, execution, transition, message, links: linksOf(request, linkBase) },
  };
}

export function variablesOf(request: Notification, linkBase: string): TemplateVariables {
  const { task, execution, transition, message } = request.context;
  return {
    task: { ...task, description: task.description ?? '' },
    execution,
    transition,
    value: execution.values['value'] ?? null,
    values: execution.values,
    message,
    links: linksOf(request, linkBase),
    organization: { id: request.organizationId },
  };
}

const longestValue = 500;

/** The text of a message whose action has none: task, what happened, values, page and link. */
export function plainTextOf(request: Notification, linkBase: string): string {
  const { task, execution, message } = request.context;
  const values = Object.entries(execution.values).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const short = text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
    return `${name === 'value' ? 'Value' : name}: ${short}`;
  });
  return [
    message,
    '',
    `Task: ${task.name}`,
    `Page: ${execution.finalUrl ?? task.url}`,
    ...values,
    `Checked: ${execution.finishedAt}`,
    `Details: ${linksOf(request, linkBase).execution}`,
    '',
  ].join('\n');
}
