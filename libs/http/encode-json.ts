/** Answers as JSON text, without holding the event loop for a long list. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Characters that are encoded before everything else has a turn. */
const charactersATurn = 500_000;

function isList(body: object): body is { readonly data: readonly unknown[] } {
  return Object.keys(body)[0] === 'data' && Array.isArray((body as { data: unknown }).data);
}

/** What `JSON.stringify` gives, the items of a list encoded one by one. */
export async function encodeJson(body: object): Promise<string> {
  if (!isList(body)) return JSON.stringify(body);
  const { data, ...rest } = body;
  const items: string[] = [];
  let characters = 0;
  for (const item of data) {
    const text = JSON.stringify(item);
    items.push(text);
    characters += text.length;
    if (characters <= charactersATurn) continue;
    characters = 0;
    await nextTurn();
  }
  const others = Object.entries(rest).map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{"data":[${items.join(',')}]${others.join('')}}`;
}
