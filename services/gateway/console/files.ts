/** The built console: its page and its files, each with the copies that were compressed when it was built. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Answer } from '#http/envelope';
import { AppError } from '#runtime/errors';

/** Beside the compiled services, also where these are joined into one file. */
const folder = fileURLToPath(new URL('../../../console/', import.meta.url));

const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  woff2: 'font/woff2',
  png: 'image/png',
};

/** Best first; the endings are those of the copies. */
const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** Files are read once: they do not change while the process runs. */
const contents = new Map<string, Buffer>();
let known: ReadonlySet<string> | null = null;

function knownFiles(): ReadonlySet<string> {
  if (known !== null) return known;
  if (!existsSync(folder)) {
    throw new AppError('NOT_FOUND', 'console_not_built', 'The console is not built: run `npm run build`.');
  }
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length).replace(/^\//, '').replaceAll('\\', '/'));
  known = new Set(found);
  return known;
}

function contentOf(name: string): Buffer {
  const content = contents.get(name) ?? readFileSync(`${folder}/${name}`);
  contents.set(name, content);
  return content;
}

/** `accepted` is the request's `Accept-Encoding`; only names that were built are ever read. */
export function consoleFile(name: string, accepted: string, headers: Readonly<Record<string, string>>): Answer {
  const files = knownFiles();
  const contentType = contentTypes[name.slice(name.lastIndexOf('.') + 1)];
  if (!files.has(name) || contentType === undefined) {
    throw new AppError('NOT_FOUND', 'unknown_path', 'There is nothing at this path.');
  }
  const offered = new Set(accepted.split(',').map((one) => one.split(';', 1)[0]?.trim() ?? ''));
  const encoding = encodings.find((one) => offered.has(one.name) && files.has(`${name}${one.ending}`));
  const content = contentOf(`${name}${encoding?.ending ?? ''}`);
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      'content-length': String(content.byteLength),
      vary: 'accept-encoding',
      ...(encoding !== undefined && { 'content-encoding': encoding.name }),
      ...headers,
    },
    body: Readable.from([content]),
  };
}
