/** Files that commands are given: read to a bound, and refused in words. */
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { isJsonObject } from '#runtime/json';
import { Refused } from './terminal.js';

/** As large as a body of the API may be. */
const maxFileBytes = 1_048_576;

const whyUnreadable: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  ELOOP: 'its links lead in a circle',
};

function unreadable(file: string, error: unknown): Refused {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return new Refused('file_unreadable', `${file} cannot be read: ${whyUnreadable[code] ?? String(error)}.`);
}

/** Pipes too, such as those of a shell's `<(…)`. */
export async function readInputFile(file: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of createReadStream(file) as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes > maxFileBytes) throw new Refused('body_too_large', `${file} is larger than 1 MiB.`);
    }
  } catch (error) {
    throw error instanceof Refused ? error : unreadable(file, error);
  }
  if (bytes === 0) throw new Refused('file_empty', `${file} is empty.`);
  return Buffer.concat(parts, bytes);
}

/** A task's file may come from somebody else: its code is beside it or below, and no device or pipe. */
async function codeFileOf(file: string, code: string): Promise<string> {
  const named = resolve(dirname(file), code);
  try {
    const [folder, place] = await Promise.all([realpath(dirname(file)), realpath(named)]);
    const way = relative(folder, place);
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
      throw new Refused('code_elsewhere', `code: ${code} must name a file beside ${file} or in a folder below it.`);
    }
    const found = await stat(place);
    if (!found.isFile() && !found.isDirectory()) {
      throw new Refused('file_unreadable', `${named} cannot be read: it is no file.`);
    }
    return named;
  } catch (error) {
    throw error instanceof Refused ? error : unreadable(named, error);
  }
}

/** The code may stand in a file beside the task: `code: ./kettle.js`, from the folder of the task's own file. */
export async function withCodeFile(task: unknown, file: string): Promise<unknown> {
  if (!isJsonObject(task) || !('code' in task)) return task;
  const { code, ...rest } = task;
  if ('evaluationFunction' in task) {
    throw new Refused('code_twice', `${file} has code and evaluationFunction; keep one of them.`);
  }
  if (typeof code !== 'string') throw new Refused('code_no_file', 'code must name a file such as ./kettle.js.');
  const evaluationFunction = (await readInputFile(await codeFileOf(file, code))).toString('utf8');
  return { ...rest, evaluationFunction };
}
