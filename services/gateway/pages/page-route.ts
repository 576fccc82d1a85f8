/** Pages for people as routes: small, out of the API's document, and in words where something is wrong. */
import type { Answer } from '#http/envelope';
import { route } from '#http/route';
import { statusOf } from '#http/status';
import type { AppError } from '#runtime/errors';
import { html } from './html.js';
import { page, redirect } from './layout.js';

/** Where to sign in, and back to. */
export function signInPath(to: string): string {
  return `/sign-in?to=${encodeURIComponent(to)}`;
}

/** Who is not signed in is led there and back; anything else is said on a page. */
export function errorPage(error: AppError, url: string): Answer {
  if (error.code === 'UNAUTHORIZED') return redirect(signInPath(url));
  const status = statusOf(error);
  const title = status === 404 ? 'Not found' : status === 403 ? 'Not allowed' : 'Something is wrong';
  const answer = page({
    title,
    status,
    body: html`<section>
      <h1>${title}</h1>
      <p>${error.message}</p>
      <p><a href="/">To the start</a></p>
    </section>`,
  });
  const retryAfter = error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) };
  return { ...answer, headers: { ...answer.headers, ...retryAfter } };
}

const htmlType = 'text/html; charset=utf-8';
const pages = { tag: 'Pages', hidden: true } as const;

/** A public file or page. */
export function publicPage(path: string, contentType: string = htmlType) {
  const operationId = `page${path.replaceAll(/\W/g, '_')}`;
  const answers = [{ status: 200, description: 'The file.', envelope: 'none', contentType }] as const;
  return route({ ...pages, method: 'GET', path, operationId, summary: path, access: 'public', answers });
}

/** The last part of the path: what a signed link in a message carries. */
export function tokenOf(url: string): string {
  const { pathname } = new URL(url, 'http://here.invalid');
  return pathname.slice(pathname.lastIndexOf('/') + 1);
}
