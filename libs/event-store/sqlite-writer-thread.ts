/** The writer in a thread of its own: who waits for the disk is this thread, not the one that answers requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { openWriter, type SqliteWriter, type WriteResult, type WrittenAppend } from './sqlite-writer.js';

export type WriterRequest =
  { readonly kind: 'write'; readonly appends: readonly WrittenAppend[] } | { readonly kind: 'close' };

export type WriterReply =
  | { readonly kind: 'written'; readonly results: readonly WriteResult[] }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'closed' };

if (parentPort !== null) {
  const port = parentPort;
  let writer: SqliteWriter | null = null;
  port.on('message', (request: WriterRequest) => {
    const reply = (message: WriterReply): void => port.postMessage(message);
    if (request.kind === 'close') {
      writer?.close();
      reply({ kind: 'closed' });
      return port.close();
    }
    try {
      writer ??= openWriter(String(workerData), 'shared');
      reply({ kind: 'written', results: writer.writeGroup(request.appends) });
    } catch (error) {
      reply({ kind: 'failed', message: String(error) });
    }
  });
}
