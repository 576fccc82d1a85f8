/** A server of MongoDB's wire protocol: SecantusDB from the Python package index, in a virtual environment. */
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cached, MissingPart, runTool } from '../downloads.ts';
import { answers, type Program } from '../process.ts';

const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));
const serve = fileURLToPath(new URL('serve.py', import.meta.url));
const oldestPython = '3.10';
const pythons = ['python3.11', 'python3.12', 'python3.13', 'python3.10', 'python3'];
const pythonAdvice = `SecantusDB needs Python ${oldestPython} or newer (Debian: apt-get install python3 python3-venv).`;
const venvAdvice = 'Python needs its modules venv and pip (Debian: apt-get install python3-venv python3-pip).';
const pipAdvice = 'pip brings SecantusDB; it must reach the Python package index or a mirror.';

async function findPython(): Promise<{ program: string; version: string }> {
  const tell = "import sys; print('%d.%d' % sys.version_info[:2]); sys.exit(sys.version_info < (3, 10))";
  for (const program of pythons) {
    try {
      return { program, version: (await runTool(program, ['-c', tell], '')).trim() };
    } catch {
      // Not there or too old: the next one may do.
    }
  }
  throw new MissingPart(`No Python ${oldestPython} or newer was found (tried ${pythons.join(', ')}). ${pythonAdvice}`);
}

async function environment(): Promise<string> {
  const { program, version } = await findPython();
  const pinned = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  return cached(`secantusdb-${pinned}-python${version}`, async (folder) => {
    await runTool(program, ['-m', 'venv', folder], venvAdvice);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    await runTool(join(folder, 'bin', 'python'), install, pipAdvice);
  });
}

export const mongo = {
  name: 'mongo',
  variable: 'READ_STORE_URL',
  url: (port: number): string => `mongodb://127.0.0.1:${port}/meerkat`,
  isReady: (port: number): Promise<boolean> => answers(port, null),

  async prepare(port: number, dataFolder: string): Promise<Program> {
    await mkdir(dataFolder, { recursive: true });
    // Not by the script in bin/: its first line names the folder in which pip once put it.
    const where = ['--host', '127.0.0.1', '--port', String(port), '--storage-path', dataFolder];
    const how = ['--sync-on-commit', '--cache-size', '256M', '--log-level', 'WARNING'];
    return {
      program: join(await environment(), 'bin', 'python'),
      args: [serve, ...where, ...how],
      env: { PYTHONUNBUFFERED: '1' },
    };
  },
};
