/** The commands of the documentation, as requests: what a reader pastes into a terminal. */

export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Every block of a page's shell code that is one call of curl. */
export function curlCommands(markdown: string): readonly string[] {
  return [...markdown.matchAll(/```sh\n(curl [^]*?)\n```/g)].map(([, command = '']) => command);
}

/** As a shell takes them apart: quotes of both kinds, a backslash before what it escapes, variables outside single quotes. */
function wordsOf(command: string, variables: Readonly<Record<string, string>>): readonly string[] {
  const words: string[] = [];
  const parts = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\\n|(\s+)|\\([^])|([^\s'"\\]+)/g;
  const filled = (text: string): string =>
    text.replace(/\$([A-Z_]+)/g, (_variable, name: string) => variables[name] ?? '');
  let word: string | null = null;
  for (const [all, single, double, blank, escaped, bare] of command.matchAll(parts)) {
    if (blank !== undefined || all === '\\\n') {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + (single ?? escaped ?? filled(double?.replace(/\\(["\\$`])/g, '$1') ?? bare ?? ''));
    }
  }
  return word === null ? words : [...words, word];
}

/** Throws where curl is told what a reader of this documentation need not know. */
export function toRequest(command: string, variables: Readonly<Record<string, string>>): CurlRequest {
  const words = wordsOf(command, variables).slice(1);
  let method: string | null = null;
  let url = '';
  let body: string | undefined;
  const headers: Record<string, string> = {};
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-s') continue;
    if (word === '-X') method = words.shift() ?? null;
    else if (word === '-d') body = words.shift();
    else if (word === '-H') {
      const [name = '', ...rest] = (words.shift() ?? '').split(': ');
      headers[name] = rest.join(': ');
    } else if (word.startsWith('-')) throw new Error(`curl ${word}`);
    else url = word;
  }
  return { method: method ?? (body === undefined ? 'GET' : 'POST'), url, headers, body };
}
