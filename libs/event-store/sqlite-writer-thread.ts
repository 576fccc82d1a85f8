/** The writer in a thread of its own: this thread waits for the disk, not the one that answers requests. */
import { workerData } from 'node:worker_threads';
import { answerRequests } from '#concurrency/answer-requests';
import { openWriter, type SqliteWriter, type WriteResult, type WrittenAppend } from './sqlite-writer.js';

export interface WriterThreadData {
  readonly file: string;
  readonly secretKey: Uint8Array | null;
  readonly packed?: readonly string[];
}

export type WriterRequest =
  | { readonly kind: 'write'; readonly appends: readonly WrittenAppend[] }
  | { readonly kind: 'truncate'; readonly stream: string; readonly before: number }
  | { readonly kind: 'erase'; readonly stream: string; readonly upTo: number }
  | { readonly kind: 'close' };

export type WriterReply =
  | { readonly kind: 'written'; readonly results: readonly WriteResult[] }
  | { readonly kind: 'truncated'; readonly hasMore: boolean }
  | { readonly kind: 'erased' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'closed' };

let writer: SqliteWriter | null = null;

answerRequests<WriterRequest, WriterReply>((request) => {
  if (request.kind === 'close') {
    writer?.close();
    writer = null;
    return { kind: 'closed' };
  }
  try {
    writer ??= openWriter({ ...(workerData as WriterThreadData), held: 'shared' });
    if (request.kind === 'truncate') {
      return { kind: 'truncated', hasMore: writer.truncateSome(request.stream, request.before) };
    }
    if (request.kind === 'erase') {
      writer.erase(request.stream, request.upTo);
      return { kind: 'erased' };
    }
    return { kind: 'written', results: writer.writeGroup(request.appends) };
  } catch (error) {
    return { kind: 'failed', message: String(error) };
  }
});
