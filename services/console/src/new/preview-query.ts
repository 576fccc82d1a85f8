/** A page loaded once for looking at and picking from; nothing is saved. */
import { useMutation } from '@tanstack/react-query';
import { api, dataOf } from '../api/client.js';
import type { TaskInput } from '../api/types.js';

export interface PickedElement {
  readonly selector: string;
  readonly text: string;
  readonly role: string | null;
  readonly name: string | null;
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number } | null;
}

export interface PagePreview {
  readonly page: { readonly finalUrl: string; readonly status: number | null; readonly title: string } | null;
  readonly document: string | null;
  readonly screenshot: string | null;
  readonly elements: readonly PickedElement[];
  readonly error: { readonly reason: string; readonly message: string; readonly hint?: string } | null;
}

/** A page that scripts fill: sent without a word that is shown. */
export function isEmptyShell({ document, elements, error }: PagePreview): boolean {
  const saysSomething = elements.some(({ text }) => text.trim() !== '');
  return error === null && document !== null && !saysSomething && /<script[\s>]/i.test(document);
}

export interface PreviewOrder {
  readonly url: string;
  readonly fetch: Partial<TaskInput['fetch']>;
}

export const loadPreview = ({ url, fetch }: PreviewOrder): Promise<PagePreview> =>
  dataOf(api.POST('/api/pages/preview', { body: { url, fetch } as never }));

export function usePreview() {
  return useMutation({ mutationFn: loadPreview });
}
