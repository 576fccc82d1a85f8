/** One reader of the stream: what waits for it is bounded, and one that is too far behind is told so. */
import { Readable } from 'node:stream';
import type { Frame } from './frames.js';
import type { StreamKind } from './changes.js';

export const mostWaiting = 1_000;
export const mostWaitingBytes = 1_000_000;

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
  /** Until then what is new waits behind what the reader missed. */
  #hasBegun = false;
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

  /** Nothing more is taken until the reader takes something again: it gets one gap for all of it. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Gives what the reader missed, and from then on what comes. */
  begin(missed: readonly string[]): void {
    const later = this.#isBehind ? [gapText] : this.#waiting;
    [this.#waiting, this.#waitingBytes, this.#isBehind, this.#hasBegun] = [[], 0, false, true];
    for (const text of [...missed, ...later]) this.#add(text);
    this.#flow();
  }

  /** Frames in order; `position`, where a reader that has them goes on, null where more of the same step follows. */
  take(frames: readonly Frame[], position: number | null): void {
    for (const text of this.render(frames, position)) this.#add(text);
    this.#flow();
  }

  /** Those of the frames that the reader wants, as text. */
  render(frames: readonly Frame[], position: number | null): readonly string[] {
    const { kinds, notificationId } = this.wants;
    const own = frames.filter(
      (frame) => kinds.includes(frame.kind) && (notificationId === null || frame.notificationId === notificationId),
    );
    return own.map(({ event, data }, index) => {
      // With the last one only: a reader that is cut off in between gets the step once more.
      const id = position !== null && index === own.length - 1 ? `id: ${position}\n` : '';
      return `${id}event: ${event}\ndata: ${data}\n\n`;
    });
  }

  /** Something was left out: the reader has to read again. */
  gap(position: number): void {
    this.#add(gapAt(position));
    this.#flow();
  }

  /** Shows that the connection stands, and where to go on. */
  beat(position: number): void {
    if (this.#waiting.length > 0) return;
    this.#add(`: \nid: ${position}\n\n`);
    this.#flow();
  }

  end(): void {
    this.body.push(null);
    this.body.destroy();
  }

  #add(text: string): void {
    if (this.#isBehind) return;
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
    if (this.#waiting.length <= mostWaiting && this.#waitingBytes <= mostWaitingBytes) return;
    this.#waiting = [gapText];
    this.#waitingBytes = gapText.length;
    this.#isBehind = true;
  }

  #flow(): void {
    while (this.#hasBegun && this.#isWanted) {
      const text = this.#waiting.shift();
      if (text === undefined) return;
      this.#waitingBytes -= text.length;
      this.#isBehind = false;
      this.#isWanted = this.body.push(text);
    }
  }
}

export function gapAt(position: number): string {
  return `id: ${position}\n${gapText}`;
}
