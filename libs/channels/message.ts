/** What a notification says, in the forms that channels need: the Standard Webhooks body, template variables, plain text. */
import { ownMember, type Json, type JsonObject } from '#runtime/json';
import type { TemplateVariables } from '#templates/templates';
import type { Notification } from './channel.js';

export function messageTypeOf(request: Pick<Notification, 'kind'>): string {
  return `notification.${request.kind}`;
}

export interface MessageLinks {
  readonly task: string;
  readonly execution: string;
  readonly api: string;
  /** Absent: there is nothing to acknowledge. */
  readonly acknowledge?: string;
}

type Linked = Pick<Notification, 'taskId' | 'executionId' | 'acknowledgeToken'>;

/** `task` and `execution` are pages for people, `api` is the execution for programs, `acknowledge` a page that asks for a click. */
export function linksOf({ taskId, executionId, acknowledgeToken }: Linked, linkBase: string): MessageLinks {
  const base = linkBase.replace(/\/+$/, '');
  return {
    task: `${base}/tasks/${taskId}`,
    execution: `${base}/executions/${executionId}`,
    api: `${base}/api/executions/${executionId}`,
    ...(acknowledgeToken === undefined ? {} : { acknowledge: `${base}/acknowledge/${acknowledgeToken}` }),
  };
}

/** A task as messages show it; its description is for templates. */
function shownTask({ context }: Pick<Notification, 'context'>): JsonObject {
  const { description: _description, ...task } = context.task;
  return task;
}

/** What is said about one run. */
function dataOf(request: Linked & Pick<Notification, 'context'>, linkBase: string): JsonObject {
  const { execution, transition, message, hint } = request.context;
  const advice = hint === undefined ? {} : { hint };
  return {
    task: shownTask(request),
    execution,
    transition,
    message,
    ...advice,
    links: { ...linksOf(request, linkBase) },
  };
}

/** The body of a webhook, and `event` in custom code. Nothing in it depends on the try. */
export function eventOf(request: Notification, linkBase: string): JsonObject {
  const { taskId, items } = request;
  const links = { ...linksOf(request, linkBase) };
  const data =
    items === undefined
      ? dataOf(request, linkBase)
      : {
          task: shownTask(request),
          items: items.map((item) => dataOf({ ...item, taskId }, linkBase)),
          message: request.context.message,
          links,
        };
  return { type: messageTypeOf(request), timestamp: request.createdAt, data };
}

export function variablesOf(request: Notification, linkBase: string): TemplateVariables {
  const { task, execution, transition, message, hint = '' } = request.context;
  return {
    task: { ...task, description: task.description ?? '' },
    execution,
    transition,
    value: execution.values['value'] ?? null,
    values: execution.values,
    message,
    hint,
    links: { acknowledge: '', ...linksOf(request, linkBase) },
    organization: { id: request.organizationId },
  };
}

const longestValue = 500;

/** A value that was reported, and what it was before. `before` null: it was not there, or is the same. */
export interface ShownChange {
  readonly name: string;
  readonly before: string | null;
  readonly after: string;
}

function shortText(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > longestValue ? `${text.slice(0, longestValue).toWellFormed()}…` : text;
}

/** What the code reported, each value beside what it was where it differs. */
export function changesOf({ execution, before }: Notification['context']): readonly ShownChange[] {
  return Object.entries(execution.values).map(([name, value]) => {
    const old = before === undefined ? undefined : ownMember(before, name);
    const differs = old !== undefined && JSON.stringify(old) !== JSON.stringify(value);
    return {
      name: name === 'value' ? 'Value' : name,
      before: differs ? shortText(old) : null,
      after: shortText(value),
    };
  });
}

function linesOf({ context }: Pick<Notification, 'context'>): string[] {
  const { task, execution, title, excerpt, hint } = context;
  return [
    ...(hint === undefined ? [] : [`What to do: ${hint}`]),
    ...(title === undefined ? [] : [`Title: ${title}`]),
    `Page: ${execution.finalUrl ?? task.url}`,
    ...changesOf(context).map(({ name, before, after }) => `${name}: ${before === null ? '' : `${before} → `}${after}`),
    ...(excerpt === undefined ? [] : [`Before: ${excerpt.before}`, `Now: ${excerpt.after}`]),
    `Checked: ${execution.finishedAt}`,
  ];
}

/** The text of a message whose action has none: task, what happened, what changed, page and links. */
export function plainTextOf(request: Notification, linkBase: string): string {
  const { context, items } = request;
  const links = linksOf(request, linkBase);
  const content =
    items === undefined
      ? linesOf(request)
      : items.flatMap((item) => [`– ${item.context.message}`, ...linesOf(item).map((text) => `  ${text}`)]);
  return [
    context.message,
    '',
    `Task: ${context.task.name}`,
    ...content,
    `Details: ${links.execution}`,
    ...(links.acknowledge === undefined ? [] : [`Acknowledge: ${links.acknowledge}`]),
    '',
  ].join('\n');
}
