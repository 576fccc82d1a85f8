/** The other side of `createWorkerThread`: what the program of the thread calls. */
import { parentPort, type Transferable } from 'node:worker_threads';

/** Answers each request with what `answer` returns; a throw ends the thread. `movedOf`: what of a reply is not copied. */
export function answerRequests<Request, Reply>(
  answer: (request: Request) => Reply,
  movedOf: (reply: Reply) => readonly Transferable[] = () => [],
): void {
  // Imported for its types or in a spec.
  if (parentPort === null) return;
  const port = parentPort;
  port.on('message', (request: Request) => {
    const reply = answer(request);
    port.postMessage(reply, movedOf(reply));
  });
  port.postMessage('ready');
}
