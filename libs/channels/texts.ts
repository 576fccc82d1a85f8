/** Headline and text of a message, from the templates of an action or from what is said where it has none. */
import { renderTemplate, type Escaper, type TemplateEscape } from '#templates/templates';
import type { Notification } from './channel.js';
import { linksOf, plainTextOf, variablesOf } from './message.js';
import { publicLink } from './links.js';
import { characters, messageText, shortened } from './text-limits.js';

/** A sentence that leaves room for a link. */
const shortCharacters = 200;

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

/** One or two lines, for receivers where each character costs. */
export function shortTextOf(request: Notification, linkBase: string, { text }: Pick<Templates, 'text'>): string {
  if (text !== undefined) return `${request.kind === 'test' ? '[Test] ' : ''}${textOf(request, linkBase, { text })}`;
  const link = publicLink(detailsOf(request, linkBase));
  const said = messageText(request.context.message).replace(/\s+/g, ' ');
  const short = shortened(said, shortCharacters, characters);
  return link === null ? short : `${short} ${link}`;
}

/** A receiver that demands a word finds it in every message. */
export function withKeyword(text: string, keyword: string | undefined): string {
  return keyword === undefined || text.startsWith(keyword) ? text : `${keyword}: ${text}`;
}

/** Where people see what was found and decided. */
export function detailsOf(request: Notification, linkBase: string): string {
  return linksOf(request, linkBase).execution;
}

export function pageOf({ context }: Notification): string {
  return context.execution.finalUrl ?? context.task.url;
}

/** How bad it is, for receivers that tell messages apart by it. */
export type Level = 'bad' | 'good' | 'broken' | 'none';

interface KindShown {
  readonly color: string;
  readonly word: string;
  readonly level: Level;
}

const kinds: Readonly<Record<Notification['kind'], KindShown>> = {
  triggered: { color: '#d98c00', word: 'Meerkat', level: 'bad' },
  recovered: { color: '#2e8b57', word: 'Meerkat: over', level: 'good' },
  error: { color: '#c0392b', word: 'Meerkat: error', level: 'broken' },
  test: { color: '#607d8b', word: 'Meerkat: test', level: 'none' },
  digest: { color: '#d98c00', word: 'Meerkat: digest', level: 'bad' },
};

/** Of a digest that of its last message. */
export function levelOf({ kind, items = [] }: Notification): Level {
  return kinds[kind === 'digest' ? (items.at(-1)?.kind ?? kind) : kind].level;
}

export function colorOf({ kind }: Notification): string {
  return kinds[kind].color;
}

/** A few words of our own that say what kind of message it is. */
export function kindWord({ kind }: Notification): string {
  return kinds[kind].word;
}

/** What an action chose for this kind of message, or for the last one of a digest; a test has none. */
export function chosenFor<Choice>(
  { kind, items = [] }: Notification,
  choices: { readonly [Kind in 'triggered' | 'recovered' | 'error']?: Choice | undefined } | undefined,
): Choice | undefined {
  const told = kind === 'digest' ? (items.at(-1)?.kind ?? 'triggered') : kind;
  return told === 'test' || told === 'digest' ? undefined : choices?.[told];
}
