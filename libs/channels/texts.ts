/** Headline and text of a message, from the templates of an action or from what is said where it has none. */
import { renderTemplate, type Escaper, type TemplateEscape } from '#templates/templates';
import type { Notification } from './channel.js';
import { linksOf, plainTextOf, variablesOf } from './message.js';
import { messageText } from './text-limits.js';

interface Templates {
  readonly title?: string | undefined;
  readonly text?: string | undefined;
}

const asItIs: Escaper = (text) => text;

function escaperOf(escape: Escaper | undefined): Escaper | TemplateEscape {
  return escape ?? 'text';
}

/** One line; a test says that it is one. */
export function titleOf(request: Notification, linkBase: string, { title }: Templates, escape?: Escaper): string {
  const template = title ?? '{{ task.name }}';
  const rendered = renderTemplate(template, variablesOf(request, linkBase), escaperOf(escape));
  const line = messageText(rendered.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' '));
  return request.kind === 'test' ? `${(escape ?? asItIs)('[Test]')} ${line}` : line;
}

/** Lines of text, never empty. */
export function textOf(request: Notification, linkBase: string, { text }: Templates, escape?: Escaper): string {
  if (text !== undefined) return messageText(renderTemplate(text, variablesOf(request, linkBase), escaperOf(escape)));
  return messageText((escape ?? asItIs)(messageText(plainTextOf(request, linkBase))));
}

/** Headline and text as one, for receivers that take one alone. */
export function wholeTextOf(request: Notification, linkBase: string, templates: Templates, escape?: Escaper): string {
  return `${titleOf(request, linkBase, templates, escape)}\n${textOf(request, linkBase, templates, escape)}`;
}

/** Where people see what was found and decided. */
export function detailsOf(request: Notification, linkBase: string): string {
  return linksOf(request, linkBase).execution;
}

export function pageOf({ context }: Notification): string {
  return context.execution.finalUrl ?? context.task.url;
}

const kinds: Readonly<Record<Notification['kind'], { readonly color: string; readonly word: string }>> = {
  triggered: { color: '#d98c00', word: 'Meerkat' },
  recovered: { color: '#2e8b57', word: 'Meerkat: over' },
  error: { color: '#c0392b', word: 'Meerkat: error' },
  test: { color: '#607d8b', word: 'Meerkat: test' },
};

export function colorOf({ kind }: Notification): string {
  return kinds[kind].color;
}

/** A few words of our own that say what kind of message it is. */
export function kindWord({ kind }: Notification): string {
  return kinds[kind].word;
}

/** What an action chose for this kind of message; a test has none. */
export function chosenFor<Choice>(
  { kind }: Notification,
  choices: { readonly [Kind in 'triggered' | 'recovered' | 'error']?: Choice | undefined } | undefined,
): Choice | undefined {
  return kind === 'test' ? undefined : choices?.[kind];
}
