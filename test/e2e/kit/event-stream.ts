/** A reader of server-sent events as a browser is one: frames in order, and the id to go on from. */
export interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

export interface EventStream {
  readonly status: number;
  readonly events: readonly StreamEvent[];
  /** null: none was given yet. */
  readonly lastEventId: string | null;
  /** Resolves once the server has ended it, or it was closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export async function openStream(url: string, headers: Readonly<Record<string, string>>): Promise<EventStream> {
  const closing = new AbortController();
  const answer = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: closing.signal });
  const events: StreamEvent[] = [];
  let lastEventId: string | null = null;
  let event = '';
  let lines: string[] = [];
  const line = (text: string): void => {
    if (text === '') {
      if (lines.length > 0) events.push({ event, data: JSON.parse(lines.join('\n')) as unknown });
      event = '';
      lines = [];
      return;
    }
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(text) ?? [];
    if (name === 'event') event = value;
    else if (name === 'data') lines.push(value);
    else if (name === 'id') lastEventId = value;
  };
  const read = async (): Promise<void> => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      const parts = `${rest}${decoder.decode(chunk as Uint8Array, { stream: true })}`.split('\n');
      rest = parts.pop() ?? '';
      parts.forEach(line);
    }
  };
  // A connection that breaks off ends it as well.
  const ended = read().catch(() => undefined);
  return {
    status: answer.status,
    events,
    get lastEventId() {
      return lastEventId;
    },
    ended,
    async close() {
      closing.abort();
      await ended;
    },
  };
}
