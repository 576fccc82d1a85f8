/** Text templates (LiquidJS): checked when saved, rendered when sent, with values escaped for the place they stand in. */
import { Liquid, LiquidError, type Template } from 'liquidjs';
import { reject } from '#runtime/errors';
import { nearestName } from '#runtime/nearest-name';
import type { Json, JsonObject } from '#runtime/json';
import { JsonPlace, JsonText } from './json-place.js';

export const templateEscapes = ['text', 'json', 'html', 'header', 'address'] as const;
/** Where the rendered text will stand. `json`: wherever in a document. `header`: one line of a header. `address`: a part of one. */
export type TemplateEscape = (typeof templateEscapes)[number];
/** How a value is written where none of these fits, such as a vendor's Markdown. */
export type Escaper = (text: string) => string;

/** What a template can name. */
export interface TemplateVariables {
  readonly task: JsonObject;
  readonly execution: JsonObject;
  readonly transition: JsonObject | null;
  /** The reported value named `value`, or null. */
  readonly value: Json;
  readonly values: JsonObject;
  readonly message: string;
  /** What to do about a run that failed; empty where nothing is known. */
  readonly hint: string;
  readonly links: JsonObject;
  readonly organization: JsonObject;
}

export type CheckedTemplate =
  | { readonly ok: true }
  /** Line and column count from 1. */
  | {
      readonly ok: false;
      readonly reason: 'template_error' | 'unknown_variable';
      readonly message: string;
      readonly line: number;
      readonly column: number;
    };

/** Longer than any field that holds a template. */
const parseLimitCharacters = 131_072;
/** Characters written, copied or compared and steps taken, together: what bounds memory, and time with it. */
const workLimit = 1_000_000;
/** What each pass through a block costs, so that empty loops end by count and not by the speed of the machine. */
const stepCost = 20;
/** Behind the count: never reached by what the count bounds. */
const renderLimitMs = 2_000;
/** The parser calls itself for each block inside a block; this is far above any real template and far below the stack. */
const nestingLimit = 50;

/** Tags that read other templates: there are none, and a name from a template never becomes a path. */
const fileTags = ['include', 'render', 'layout', 'block'];
/** Different on every call: a message would not be the same on every try. */
const randomFilters = ['sample'];
/** Each evaluates an expression per item, which the engine does not count: a few hundred characters would run for minutes. */
const uncountedFilters = /_exp$/;
const dateFilters = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'];

const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it may stand in HTML, in content and between quotes of an attribute alike. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => htmlEntities[character] ?? character);
}

/** One line: every kind of line break and control character becomes a space, so that no header can follow. */
export function escapeHeader(text: string): string {
  // Control characters are what must not pass
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}

/** What a template writes of its variables, told apart from its own text until its place is known. */
class Value {
  constructor(readonly value: unknown) {}
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value instanceof Value) return toText(value.value);
  if (value instanceof JsonText) return value.text;
  // Nothing else comes from JSON but lists and objects.
  return JSON.stringify(value) ?? '';
}

function escaperOf(escape: Exclude<TemplateEscape, 'json'> | Escaper): Escaper {
  if (typeof escape === 'function') return escape;
  switch (escape) {
    case 'text':
    case 'header':
      return (text) => text;
    case 'html':
      return escapeHtml;
    case 'address':
      return (text) => encodeURIComponent(text.toWellFormed());
    default:
      return escape satisfies never;
  }
}

/** Filters that do what is done to each value in that place: done twice, a space would arrive as `%2B`, an `&` as `&amp;`. */
const filtersOfPlaces: ReadonlyMap<TemplateEscape | Escaper, readonly string[]> = new Map([
  ['address', ['url_encode', 'cgi_escape', 'uri_escape']],
  ['html', ['escape', 'xml_escape']],
]);

/** Each place has an engine of its own, because the escaping is decided when a template is parsed. */
function createEngine(escape: TemplateEscape | Escaper): Liquid {
  const engine = new Liquid({
    cache: false,
    dynamicPartials: false,
    relativeReference: false,
    templates: {},
    strictFilters: true,
    strictVariables: false,
    ownPropertyOnly: true,
    timezoneOffset: 0,
    locale: 'en-US',
    parseLimit: parseLimitCharacters,
    renderLimit: renderLimitMs,
    memoryLimit: workLimit,
  });
  const escaper = escape === 'json' ? null : escaperOf(escape);
  engine.options.outputEscape = function (this: unknown, value: unknown): string {
    // The engine hands on to the emitter whatever it gets.
    return escaper === null ? (new Value(value) as unknown as string) : escaper(toText(value));
  };
  for (const tag of fileTags) delete engine.tags[tag];
  const uncounted = Object.keys(engine.filters).filter((name) => uncountedFilters.test(name));
  for (const filter of [...randomFilters, ...uncounted]) engine.unregisterFilter(filter);
  for (const filter of filtersOfPlaces.get(escape) ?? []) engine.registerFilter(filter, (value: unknown) => value);
  // A template that says `json` asks for JSON as it is; without this it would be written as a text.
  if (escape === 'json') {
    const json = engine.filters['json'];
    if (typeof json === 'function') {
      const asJson = function (this: unknown, ...args: unknown[]): JsonText {
        return new JsonText(
          toText(json.apply(this as ThisParameterType<typeof json>, args as Parameters<typeof json>)),
        );
      };
      for (const name of ['json', 'jsonify']) engine.registerFilter(name, asJson);
    }
  }
  // `now` is when the run finished: each try of a message has to say the same.
  for (const name of dateFilters) {
    const handler = engine.filters[name];
    if (typeof handler !== 'function') continue;
    engine.registerFilter(name, function (value: unknown, ...rest: unknown[]): unknown {
      const moment = value === 'now' || value === 'today' ? this.context.getSync(['execution', 'finishedAt']) : value;
      return handler.call(this, moment, ...rest) as unknown;
    });
  }
  // The engine counts what filters make but not what templates write, so that a loop over a long text would be free.
  const { renderer } = engine;
  const renderTemplates = renderer.renderTemplates.bind(renderer);
  const begun = new WeakSet<object>();
  renderer.renderTemplates = function* (templates, context, emitter) {
    context.memoryLimit.use(stepCost + templates.length);
    let buffer = '';
    // What is captured has no place yet.
    const place = escape === 'json' && !begun.has(context) ? new JsonPlace(toText) : null;
    begun.add(context);
    const counting = emitter ?? {
      get buffer() {
        return buffer;
      },
      write(value: unknown) {
        const text = value instanceof Value && place !== null ? place.written(value.value) : toText(value);
        context.memoryLimit.use(text.length);
        if (!(value instanceof Value)) place?.pass(text);
        buffer += text;
      },
    };
    return (yield* renderTemplates(templates, context, counting)) as unknown;
  };
  return engine;
}

/** Escapers are functions at the top of a file, as many as there are channels that have one. */
const engines = new Map<TemplateEscape | Escaper, Liquid>();

function engineOf(escape: TemplateEscape | Escaper): Liquid {
  const known = engines.get(escape);
  if (known !== undefined) return known;
  const engine = createEngine(escape);
  engines.set(escape, engine);
  return engine;
}

/** The first place where blocks lie deeper inside each other than allowed. The engine's own parser would run out of stack. */
function tooDeepAt(text: string): number | null {
  let depth = 0;
  for (const tag of text.matchAll(/\{%-?\s*(end)?(if|unless|for|case|capture|tablerow|comment|raw)\b/g)) {
    depth += tag[1] === undefined ? 1 : -1;
    if (depth > nestingLimit) return tag.index;
  }
  return null;
}

function placeOf(text: string, index: number): { line: number; column: number } {
  const before = text.slice(0, index).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** LiquidJS adds ", line:1, col:2" to what it says; the place is told apart here. */
function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/(, file:[^,]*)?, line:\d+, col:\d+$/, '').slice(0, 500);
}

function faultOf(error: unknown): { message: string; line: number; column: number } {
  const [line, column] = LiquidError.is(error) ? error.token.getPosition() : [1, 1];
  const cause = LiquidError.is(error) ? (error.originalError ?? error) : error;
  return {
    message: cause instanceof RangeError ? 'is nested too deeply' : sentenceOf(error),
    line: line ?? 1,
    column: column ?? 1,
  };
}

function parse(
  engine: Liquid,
  text: string,
): { ok: true; templates: Template[] } | ({ ok: false } & ReturnType<typeof faultOf>) {
  if (text.length > parseLimitCharacters)
    return { ok: false, message: `has more than ${parseLimitCharacters} characters`, line: 1, column: 1 };
  const deep = tooDeepAt(text);
  if (deep !== null)
    return { ok: false, message: `has more than ${nestingLimit} blocks inside each other`, ...placeOf(text, deep) };
  try {
    return { ok: true, templates: engine.parse(text) };
  } catch (error) {
    return { ok: false, ...faultOf(error) };
  }
}

/** What each variable holds; null: whatever the task's code reported. */
const known: ReadonlyMap<string, readonly string[] | null> = new Map<string, readonly string[] | null>([
  ['task', ['id', 'name', 'description', 'url', 'tags']],
  ['execution', ['id', 'outcome', 'values', 'finishedAt', 'finalUrl']],
  ['transition', ['kind', 'from', 'to']],
  ['value', null],
  ['values', null],
  ['message', []],
  ['hint', []],
  ['links', ['task', 'execution', 'api', 'acknowledge']],
  ['organization', ['id']],
]);
/** What the language has of any list or text. */
const ofAnything = ['size', 'first', 'last'];

/** The name that a template has no value for, with the one that was probably meant; null: there is a value. */
function unknownName(segments: readonly unknown[]): string | null {
  const [name, member] = segments;
  if (typeof name !== 'string') return null;
  const members = known.get(name);
  if (members === undefined) return `names ${name}, which there is not${meant(nearestName(name, [...known.keys()]))}`;
  if (members === null || typeof member !== 'string' || [...members, ...ofAnything].includes(member)) return null;
  const nearest = nearestName(member, members);
  return `names ${name}.${member}, which there is not${meant(nearest === null ? null : `${name}.${nearest}`)}`;
}

const meant = (nearest: string | null): string => (nearest === null ? '' : `; did you mean ${nearest}?`);

/**
 * Reads a template without rendering it: the first fault with its place, unknown tags, filters and variables included. What a
 * template assigns itself is known.
 */
export function checkTemplate(text: string): CheckedTemplate {
  const engine = engineOf('text');
  const parsed = parse(engine, text);
  if (!parsed.ok) return { ...parsed, reason: 'template_error' };
  const { globals } = engine.analyzeSync(parsed.templates, { partials: false });
  for (const variable of Object.values(globals).flat()) {
    const message = unknownName(variable.segments);
    const { row: line, col: column } = variable.location;
    if (message !== null) return { ok: false, reason: 'unknown_variable', message, line, column };
  }
  return { ok: true };
}

/**
 * Renders a template. Unknown variables are empty. Rejects with `template_failed` where it cannot be read, takes too much
 * work or does what its values do not allow: the same template and variables always end alike.
 */
export function renderTemplate(text: string, variables: TemplateVariables, escape: TemplateEscape | Escaper): string {
  if (!text.includes('{{') && !text.includes('{%') && text.length <= parseLimitCharacters) {
    return escape === 'header' ? escapeHeader(text) : text;
  }
  const engine = engineOf(escape);
  const parsed = parse(engine, text);
  if (!parsed.ok) throw failed(parsed);
  let rendered: string;
  try {
    // A copy, because `increment` writes into what it is given.
    rendered = String(engine.renderSync(parsed.templates, { ...variables }));
  } catch (error) {
    throw failed(faultOf(error));
  }
  return escape === 'header' ? escapeHeader(rendered) : rendered;
}

function failed(fault: { message: string; line: number; column: number }): Error {
  return reject(
    'template_failed',
    `The template could not be used: line ${fault.line}, column ${fault.column}: ${fault.message}.`,
  );
}
