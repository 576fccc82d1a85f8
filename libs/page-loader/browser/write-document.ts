/** The document of a rendered page with those of its frames in their places, read past the page's own scripts. */
import { randomBytes } from 'node:crypto';
import type { CDPSession, Page } from 'playwright-core';
import { documentScript, type WrittenDocument } from './document-script.js';

const mostFrames = 50;
const deepestFrames = 5;
const deepestElement = 480;
const mostElements = 190_000;
const world = 'meerkat';

export class DocumentExceeds extends Error {
  readonly what: 'size' | 'depth';

  constructor(what: 'size' | 'depth') {
    super(what);
    this.what = what;
  }
}

interface FrameTree {
  readonly frame: { readonly id: string };
  readonly childFrames?: readonly FrameTree[];
}

function idsIn({ frame, childFrames = [] }: FrameTree): readonly string[] {
  return [frame.id, ...childFrames.flatMap(idsIn)];
}

/** Each frame with the session of the process that it runs in. */
async function sessionsOf(page: Page, main: CDPSession): Promise<ReadonlyMap<string, CDPSession>> {
  const sessions = new Map<string, CDPSession>();
  const note = async (session: CDPSession): Promise<void> => {
    const { frameTree } = await session.send('Page.getFrameTree');
    for (const id of idsIn(frameTree)) if (!sessions.has(id)) sessions.set(id, session);
  };
  await note(main);
  for (const frame of page.frames().slice(1, mostFrames)) {
    // Rejects for a frame that shares the process of its parent, which knows it then.
    const session = await page
      .context()
      .newCDPSession(frame)
      .catch(() => null);
    if (session !== null) await note(session).catch(() => undefined);
  }
  return sessions;
}

/** Throws `DocumentExceeds`. */
export async function writeDocument(
  page: Page,
  main: CDPSession,
  mostCharacters: number,
  boxAttribute: string | null,
  secrets: readonly string[],
): Promise<string> {
  const sessions = await sessionsOf(page, main);
  const frameMark = `<!--${randomBytes(12).toString('hex')}-`;
  let leftCharacters = mostCharacters;
  let leftFrames = mostFrames;

  async function written(frameId: string, depth: number): Promise<string> {
    const session = sessions.get(frameId);
    if (session === undefined) return '';
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
      frameId,
      worldName: world,
    });
    const bounds = { mostCharacters: leftCharacters, mostDepth: deepestElement, mostElements, frameMark, secrets };
    const expression = documentScript({
      ...bounds,
      boxAttribute: depth === 0 ? boxAttribute : null,
      isFrame: depth > 0,
    });
    const answer = await session.send('Runtime.evaluate', { expression, contextId, returnByValue: true });
    if (answer.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.text);
    const { html, frames, excess } = answer.result.value as WrittenDocument;
    if (excess !== null) throw new DocumentExceeds(excess);
    leftCharacters -= html.length;
    const parts = html.split(frameMark);
    const [first = '', ...rest] = parts;
    let whole = first;
    for (const [at, part] of rest.entries()) {
      const end = part.indexOf('-->');
      leftFrames -= 1;
      const isRead = at < frames && depth < deepestFrames && leftFrames >= 0;
      whole += (isRead ? await contentOf(session, contextId, at, depth) : '') + part.slice(end + 3);
    }
    return whole;
  }

  async function contentOf(session: CDPSession, contextId: number, at: number, depth: number): Promise<string> {
    try {
      const { result } = await session.send('Runtime.evaluate', { expression: `meerkatFrames[${at}]`, contextId });
      if (result.objectId === undefined) return '';
      const { node } = await session.send('DOM.describeNode', { objectId: result.objectId });
      return node.frameId === undefined ? '' : await written(node.frameId, depth + 1);
    } catch (error) {
      if (error instanceof DocumentExceeds) throw error;
      // A frame that went while it was read.
      return '';
    }
  }

  const { frameTree } = await main.send('Page.getFrameTree');
  return written(frameTree.frame.id, 0);
}
