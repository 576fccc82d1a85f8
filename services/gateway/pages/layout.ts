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
  readonly status?: number;
}

/** `no-referrer` would make browsers send a form with `Origin: null`, which cannot be told from another site's. */
export function page({ title, body, status = 200 }: Page): Answer {
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
      <body class="narrow">
        <header><a class="brand" href="/">Meerkat</a></header>
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
