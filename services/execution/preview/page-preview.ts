/** A page as its next run would see it, and the elements on it. Nothing is recorded. */
import { z } from 'zod';
import {
  listedElement,
  longestListedText,
  mostListedElements,
  type ListedElement,
  type PagePreview,
} from '#contracts/page-preview';
import { hintFor } from '#hints/hint';
import type { RunError } from '#contracts/run';
import type { LoadedPage, LoadFailure } from '#page-loader/page-loader';
import type { JsonObject } from '#runtime/json';
import type { EvaluationResult } from '#sandbox/sandbox';
import { failedLoad, type EvaluationDeps } from '../page-evaluation.js';
import { elementsScript } from './elements-script.js';

/** All elements together, bytes of UTF-8. */
const mostListedBytes = 1_048_576;
/** The rest is for what stands around them. */
const mostBytes = mostListedBytes - 65_536;
/** The code is ours and bounded, and reads all of a large page. */
const listingCpuMs = 5_000;

const nothing = { page: null, document: null, screenshot: null, elements: [] };

function withHint(error: RunError): RunError {
  const hint = hintFor(error);
  return hint === null ? error : { ...error, hint };
}

export function failedPreview(failure: LoadFailure): PagePreview {
  const { error } = failedLoad(failure);
  return { ...nothing, error: error === null ? null : withHint(error) };
}

/** What was listed before the code ended, in the order of the document. */
function elementsIn(values: JsonObject): readonly ListedElement[] {
  const parts = Object.entries(values).filter(([name]) => name.startsWith('elements '));
  const elements = parts.flatMap(([, part]) => z.array(listedElement).parse(part));
  return elements.slice(0, mostListedElements);
}

function errorOf(result: EvaluationResult): RunError | null {
  if (result.ok) return null;
  const { reason, message } = result.failure;
  return withHint({ reason, message: `The elements of the page could not all be listed: ${message}` });
}

/** `boxAttribute`: where a browser left the places of elements; null: none rendered the page. */
export async function listedPreview(
  { sandbox, limits }: Pick<EvaluationDeps, 'sandbox' | 'limits'>,
  page: LoadedPage,
  boxAttribute: string | null,
): Promise<Omit<PagePreview, 'screenshot'>> {
  const { finalUrl, status, contentKind } = page;
  const text = new TextDecoder().decode(page.body);
  const document = boxAttribute === null ? text : text.replaceAll(new RegExp(` ${boxAttribute}="[-0-9.,]*"`, 'g'), '');
  if (contentKind !== 'html' && contentKind !== 'xml') {
    return { page: { finalUrl, status, title: '' }, document, elements: [], error: null };
  }
  const bounds = { mostElements: mostListedElements, longestText: longestListedText, mostBytes, boxAttribute };
  const result = await sandbox.evaluate({
    code: elementsScript(bounds),
    form: 'body',
    page,
    previous: null,
    state: {},
    seed: 'preview',
    nowMs: 0,
    limits: { ...limits, cpuMs: Math.max(limits.cpuMs, listingCpuMs), outputBytes: mostListedBytes },
  });
  const title = result.values['title'];
  return {
    page: { finalUrl, status, title: typeof title === 'string' ? title : '' },
    document,
    elements: [...elementsIn(result.values)],
    error: errorOf(result),
  };
}
