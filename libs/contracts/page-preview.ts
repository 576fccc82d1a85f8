/** A page as its next run would see it, loaded once for somebody who picks an element on it. Nothing of it is saved. */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import { storedFetch } from './fetch.js';
import { runError } from './run.js';

/** So many elements of a page are listed at most, the first ones. */
export const mostListedElements = 1_000;
export const longestListedText = 200;

export const listedElement = z
  .object({
    selector: z
      .string()
      .describe('Matches exactly this element of `document`: by id, test id, role or label before its place.'),
    text: z.string().max(longestListedText).describe('What stands in it, at most 200 characters.'),
    role: z
      .string()
      .nullable()
      .describe('What it is to assistive technology, such as `button`; null: nothing special.'),
    name: z.string().nullable().describe('What assistive technology calls it; null: nothing.'),
    box: z
      .object({
        x: z.number().describe('From the left edge of the page, pixels.'),
        y: z.number().describe('From its upper edge.'),
        width: z.number().describe('In pixels.'),
        height: z.number().describe('In pixels.'),
      })
      .nullable()
      .describe('Where it stands on the page; null where no browser rendered it.'),
  })
  .meta({ id: 'ListedElement' });
export type ListedElement = z.infer<typeof listedElement>;

export const pagePreview = z
  .object({
    page: z
      .object({
        finalUrl: z.string().describe('Where redirects ended.'),
        status: z.int().describe('Of the answer.'),
        title: z.string().describe('Of the document; empty where it has none.'),
      })
      .nullable()
      .describe('null: it could not be loaded.'),
    document: z.string().nullable().describe('The page as the code sees it; null: there is none, or it is too large.'),
    screenshot: z.string().nullable().describe('`data:image/png;base64,…`; null where no browser rendered the page.'),
    elements: z
      .array(listedElement)
      .max(mostListedElements)
      .describe('Those with text of their own, controls and images, in the order of the document.'),
    error: runError.nullable().describe('Why the page could not be loaded or read.'),
  })
  .meta({ id: 'PagePreview' });
export type PagePreview = z.infer<typeof pagePreview>;

/** Asks the execution service for a page (`run.preview`). Secrets are sealed under the organisation. */
export const previewQuery = z.object({ url: z.string(), fetch: storedFetch });
export type PreviewQuery = z.infer<typeof previewQuery>;

/** The answer on its way: the document compressed (gzip, base64), because a message has a largest size. */
export const packedPreview = z.object({ preview: pagePreview, packed: z.string().nullable() });
export type PackedPreview = z.infer<typeof packedPreview>;

const [pack, unpack] = [promisify(gzip), promisify(gunzip)];
/** Of the document and of the picture, as they are sent. */
const mostPackedCharacters = 3_000_000;
/** A page has at most this, whatever its settings. */
const mostUnpackedBytes = 64 * 1024 * 1024;

/** What is too large to be sent is left out, and the answer says so. */
export async function packPreview(preview: PagePreview): Promise<PackedPreview> {
  const { document, screenshot } = preview;
  const packed = document === null ? null : (await pack(document)).toString('base64');
  const isDocumentTooLarge = packed !== null && packed.length > mostPackedCharacters;
  const isPictureTooLarge = screenshot !== null && screenshot.length > mostPackedCharacters;
  const tooLarge = {
    reason: 'too_large',
    message: 'The page is too large to be shown here; a task can still watch it.',
  };
  return {
    preview: {
      ...preview,
      document: null,
      screenshot: isPictureTooLarge ? null : screenshot,
      error: preview.error ?? (isDocumentTooLarge ? tooLarge : null),
    },
    packed: isDocumentTooLarge ? null : packed,
  };
}

export async function unpackPreview({ preview, packed }: PackedPreview): Promise<PagePreview> {
  if (packed === null) return preview;
  const document = await unpack(Buffer.from(packed, 'base64'), { maxOutputLength: mostUnpackedBytes });
  return { ...preview, document: document.toString() };
}
