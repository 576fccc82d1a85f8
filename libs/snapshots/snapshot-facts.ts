/** What is known of a snapshot besides its content, as stores keep it: text, which somebody may have changed in its place. */
import { z } from 'zod';
import { isId } from '#runtime/ids';
import type { Snapshot } from './snapshots.js';

/** More than any page is: what is compressed must not say itself how large it grows. */
const maxContentBytes = 64 * 1_048_576;

const certificate = z.object({
  validFrom: z.string(),
  validTo: z.string(),
  issuer: z.string(),
  subject: z.string(),
  fingerprint: z.string(),
});

const facts = z.object({
  id: z.string().refine((id) => isId(id, 'snp')),
  // Both name files where snapshots are files.
  organizationId: z.string().refine((id) => isId(id, 'org')),
  contentHash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  taskId: z.string().refine((id) => isId(id, 'ntf')),
  taskRevision: z.int(),
  takenAt: z.iso.datetime(),
  url: z.url(),
  finalUrl: z.url(),
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  certificate: certificate.optional(),
  contentKind: z.enum(['html', 'xml', 'json', 'text']),
  rendered: z.literal(true).optional(),
  isScreenshot: z.literal(true).optional(),
  encoding: z.string(),
  bytes: z.int().min(0).max(maxContentBytes),
  mac: z.string().max(64).optional(),
});

/** null where it is not what this product wrote. */
export function parseFacts(text: string): Snapshot | null {
  try {
    const { certificate: proof, rendered, isScreenshot, mac, ...read } = facts.parse(JSON.parse(text));
    return {
      ...read,
      ...(proof !== undefined && { certificate: proof }),
      ...(rendered !== undefined && { rendered }),
      ...(mac !== undefined && { mac }),
      ...(isScreenshot !== undefined && { isScreenshot }),
    };
  } catch {
    return null;
  }
}
