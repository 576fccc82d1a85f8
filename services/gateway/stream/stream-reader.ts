/** One reader of the stream: what waits for it is bounded, and one that is too far behind is told so. */
import { Readable } from 'node:stream';
import type { Frame } from './frames.js';
import type { StreamKind } from './changes.js';

const mostWaiting = 1_000;
const mostWaitingBytes = 1_000_000;

export interface ReaderWants {
  readonly organizationId: string;
  readonly kinds: readonly StreamKind[];
  /** null: of all tasks. */
  readonly notificationId: string | null;
}

const gapText = 'event: gap\ndata: {}\n\n';

export class StreamReader {
  readonly wants: ReaderWants;
  readonly body: Readable;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #isWanted = false;
  /** While it is caught up with what it missed, what is new waits behind that. */
  #held: string[] | null = null;
  #isBehind = false;

  constructor(wants: ReaderWants) {
    this.wants = wants;
    this.body = new Readable({
      highWaterMark: 65_536,
      read: () => {
        this.#isWanted = true;
        this.#flow();
      },
    });
  }

  /** From now on new frames wait, until `release`. */
  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const text of held) this.#push(text);
  }

  /** Frames of one step, in order; `position` is where a reader that has them goes on. */
  take(frames: readonly Frame[], position: number): void {
    const { kinds, notificationId } = this.wants;
    const own = frames.filter(
      (frame) => kinds.includes(frame.kind) && (notificationId === null || frame.notificationId === notificationId),
    );
    for (const [index, { event, data }] of own.entries()) {
      // With the last one only: a reader that is cut off in between gets the step once more.
      const id = index === own.length - 1 ? `id: ${position}\n` : '';
      this.send(`${id}event: ${event}\ndata: ${data}\n\n`);
    }
  }

  /** Something was left out: the reader has to read again. */
  gap(position: number | null): void {
    this.send(`${position === null ? '' : `id: ${position}\n`}${gapText}`);
  }

  /** Shows that the connection stands, and where to go on. */
  beat(position: number | null): void {
    if (this.#waiting.length > 0) return;
    this.send(position === null ? ': \n\n' : `: \nid: ${position}\n\n`);
  }

  end(): void {
    this.body.push(null);
    this.body.destroy();
  }

  send(text: string): void {
    if (this.#held === null) {
      this.#push(text);
      return;
    }
    this.#held.push(text);
    if (this.#held.length > mostWaiting) this.#held = [gapText];
  }

  #push(text: string): void {
    // One gap stands for all that follows until the reader takes something again.
    if (this.#isBehind) return;
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
    if (this.#waiting.length > mostWaiting || this.#waitingBytes > mostWaitingBytes) {
      this.#waiting = [gapText];
      this.#waitingBytes = gapText.length;
      this.#isBehind = true;
    }
    this.#flow();
  }

  #flow(): void {
    while (this.#isWanted) {
      const text = this.#waiting.shift();
      if (text === undefined) return;
      this.#waitingBytes -= text.length;
      this.#isBehind = false;
      this.#isWanted = this.body.push(text);
    }
  }
}
