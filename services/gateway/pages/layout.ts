/** What all pages for people have around them. */
import { text, type Answer } from '#http/envelope';
import { html, type Html, type HtmlValue } from './html.js';

/** Nothing from elsewhere, no inline script; no page may be framed or post elsewhere. */
export const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export function htmlAnswer(body: string, policy = contentSecurityPolicy): Answer {
  return text(body, 'text/html; charset=utf-8', { 'content-security-policy': policy });
}

interface Page {
  readonly title: string;
  readonly body: Html;
  /** Somebody is signed in: the way to their tasks, and out. */
  readonly signedIn?: boolean;
  readonly status?: number;
}

const signedInNavigation = html`<nav aria-label="Main">
  <a href="/tasks">Tasks</a>
  <a href="/docs">API</a>
  <form method="post" action="/sign-out"><button type="submit" class="quiet">Sign out</button></form>
</nav>`;

/** `no-referrer` would make browsers send a form with `Origin: null`, which cannot be told from another site's. */
export function page({ title, body, signedIn = false, status = 200 }: Page): Answer {
  const whole = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="same-origin" />
        <title>${title} · Meerkat</title>
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body class="${signedIn ? 'wide' : 'narrow'}">
        <header><a class="brand" href="/">Meerkat</a>${signedIn && signedInNavigation}</header>
        <main>${body}</main>
      </body>
    </html> `;
  return { ...htmlAnswer(whole.markup), status };
}

/** `303 See Other`: also after a form, so that going back sends nothing twice. */
export function redirect(location: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 303, headers: { location, 'content-type': 'text/plain; charset=utf-8', ...headers }, body: '' };
}

/** `2026-11-24 15:21:54 UTC` */
export function timeOf(at: string | null): HtmlValue {
  if (at === null) return '–';
  return html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 19)} UTC</time>`;
}

/** A word that is seen at a glance: green, red or neither. */
export function badge(word: string, tone: 'good' | 'bad' | 'plain'): Html {
  return html`<span class="badge ${tone}">${word}</span>`;
}

const longestValue = 300;

/** What code reported: texts as they are, all else as JSON. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  return whole.length > longestValue ? `${whole.slice(0, longestValue)}…` : whole;
}

/** A sentence whose `names` are set as code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
