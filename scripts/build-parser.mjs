// `npm run build:parser [-- --source FILE] [--verify]`: compiles the fast page parser to dist-parser/lexbor.wasm, from our
// glue in libs/sandbox/lexbor and lexbor's own source, which is taken from a package whose hash is known. The same
// sources and the same compiler give the same bytes in any folder; `--verify` builds twice and compares them.
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const glueFolder = join(root, 'libs', 'sandbox', 'lexbor');
const outputFolder = join(root, 'dist-parser');
const cacheFolder = join(root, 'node_modules', '.cache', 'lexbor');
const oldestClang = 17;
const knownVersions = [19, 20, 21, 18, 17];
const maxMemoryBytes = 128 * 1024 * 1024;
const stackBytes = 256 * 1024;

/** A reason that a person can act on. */
class Refusal extends Error {}

const toolchainHelp = `The fast parser is compiled with clang and lld (version ${oldestClang} or newer, with the WebAssembly target). On Debian or Ubuntu:

  sudo apt-get install clang-19 lld-19

Elsewhere install LLVM's clang and lld, or name them: CLANG=/path/to/clang WASM_LD=/path/to/wasm-ld npm run build:parser
Without it Meerkat parses pages by parse5, which needs nothing.`;

function versionOf(program) {
  try {
    return execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split(
      '\n',
    )[0];
  } catch {
    return null;
  }
}

/** The first of the names that runs and is new enough. */
function findTool(chosen, name) {
  const names = chosen === undefined ? [...knownVersions.map((version) => `${name}-${version}`), name] : [chosen];
  for (const path of names) {
    const version = versionOf(path);
    const major = Number(/(?:version|LLD) (\d+)\./.exec(version ?? '')?.[1] ?? 0);
    if (major >= oldestClang) return { path, version };
  }
  throw new Refusal(`${chosen ?? name} was not found or is too old.\n\n${toolchainHelp}`);
}

function findToolchain() {
  const clang = findTool(process.env.CLANG, 'clang');
  const linker = findTool(process.env.WASM_LD, 'wasm-ld');
  const targets = execFileSync(clang.path, ['--print-targets'], { encoding: 'utf8' });
  if (!/\bwasm32\b/.test(targets))
    throw new Refusal(`${clang.path} cannot compile to WebAssembly.\n\n${toolchainHelp}`);
  return { clang, linker };
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Name, version and hash of the package, as `requirements.txt` has them for pip. */
async function readPin() {
  const text = await readFile(join(glueFolder, 'requirements.txt'), 'utf8');
  const [, name, version, hash] = /^(\w+)==([\d.]+) --hash=sha256:([0-9a-f]{64})$/m.exec(text) ?? [];
  if (hash === undefined) throw new Error('requirements.txt names no package with a hash');
  return { name, version, hash };
}

/** The package's source, from `--source`, from the cache, or by pip. Its hash is checked whatever the way. */
async function findSource(chosen) {
  const pin = await readPin();
  const fileName = `${pin.name}-${pin.version}.tar.gz`;
  const cached = join(cacheFolder, fileName);
  const path = chosen === undefined ? cached : resolve(chosen);
  let bytes = await readFile(path).catch(() => null);
  if (bytes === null && chosen !== undefined) throw new Refusal(`${path} cannot be read.`);
  if (bytes === null) {
    process.stderr.write(`fetching ${fileName} from PyPI by pip …\n`);
    await mkdir(cacheFolder, { recursive: true });
    // Only this package as source: what pip wants to read its metadata with may come built, else that is built first.
    const asSource = ['--no-deps', '--no-binary', pin.name];
    const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', ...asSource];
    const wanted = ['--require-hashes', '--requirement', join(glueFolder, 'requirements.txt'), '--dest', cacheFolder];
    try {
      await run('python3', [...pip, ...wanted]);
    } catch (error) {
      const reason = `${error.stderr ?? error.message}`.trim();
      throw new Refusal(
        `pip could not fetch ${pin.name} ${pin.version}:\n${reason}\n\n` +
          `Fetch ${fileName} from https://pypi.org/project/${pin.name}/${pin.version}/#files by other means and run: npm run build:parser -- --source ${fileName}`,
      );
    }
    bytes = await readFile(cached);
  }
  if (sha256(bytes) !== pin.hash) throw new Refusal(`${path} is not ${fileName}: its SHA-256 must be ${pin.hash}.`);
  return { bytes, pin };
}

async function filesBelow(folder, ending) {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith(ending)).sort();
}

/** Compiles with paths that are the same wherever the build runs. */
async function compileAll(clang, folder, files) {
  const flags = [
    '--target=wasm32-unknown-unknown',
    '-nostdlibinc',
    '-isystem',
    'glue/libc',
    '-Ilexbor/source',
    '-O3',
    '-flto',
    '-msimd128',
    '-mnontrapping-fptoint',
    '-msign-ext',
    '-fno-ident',
    '-DLEXBOR_STATIC',
    '-DNDEBUG',
  ];
  const ofGlue = ['-std=c17', '-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter', '-fno-builtin-malloc'];
  // Joined with the rest, its instructions for long copies would be taken for short ones everywhere.
  const ofCopying = [...ofGlue, '-fno-lto', '-fno-builtin', '-mbulk-memory'];
  const waiting = [...files];
  const lane = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const own = file === 'glue/copy.c' ? ofCopying : file.startsWith('glue/') ? ofGlue : ['-w'];
      const object = join('objects', `${file.replaceAll('/', '_')}.o`);
      await run(clang.path, [...flags, ...own, '-c', file, '-o', object], { cwd: folder });
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return files.map((file) => join('objects', `${file.replaceAll('/', '_')}.o`));
}

/** One build in a folder of its own. Resolves to the bytes. */
async function build({ clang, linker }, source) {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-parser-'));
  try {
    await mkdir(join(folder, 'objects'));
    await cp(glueFolder, join(folder, 'glue'), { recursive: true });
    await writeFile(join(folder, 'source.tar.gz'), source.bytes);
    const packed = `${source.pin.name}-${source.pin.version}`;
    await run('tar', ['-xzf', 'source.tar.gz', `${packed}/lexbor`], { cwd: folder });
    await rename(join(folder, packed, 'lexbor'), join(folder, 'lexbor'));
    const library = 'lexbor/source/lexbor';
    const parts = await Promise.all(
      ['core', 'dom', 'html', 'ns', 'tag'].map(async (part) =>
        (await filesBelow(join(folder, library, part), '.c')).map((name) => `${library}/${part}/${name}`),
      ),
    );
    const glue = (await filesBelow(join(folder, 'glue'), '.c')).map((name) => `glue/${name}`);
    const files = [...parts.flat(), `${library}/ports/posix/lexbor/core/memory.c`, ...glue];
    const objects = await compileAll(clang, folder, files);
    const linking = [
      '--lto-O3',
      '--no-entry',
      '--import-memory',
      `--max-memory=${maxMemoryBytes}`,
      '-z',
      `stack-size=${stackBytes}`,
      // A stack that overflows meets the end of memory, not data.
      '--stack-first',
      '--gc-sections',
      '--strip-all',
    ];
    await run(linker.path, [...linking, ...objects, '-o', 'lexbor.wasm'], { cwd: folder });
    const texts = ['LICENSE', 'NOTICE'].map((name) => readFile(join(folder, 'lexbor', name)));
    const [license, notice] = await Promise.all(texts);
    return { wasm: await readFile(join(folder, 'lexbor.wasm')), license, notice };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function main() {
  const { values } = parseArgs({
    options: { source: { type: 'string' }, verify: { type: 'boolean', default: false } },
  });
  const toolchain = findToolchain();
  const source = await findSource(values.source);
  const built = await build(toolchain, source);
  if (values.verify) {
    const again = await build(toolchain, source);
    if (!built.wasm.equals(again.wasm)) throw new Error('two builds of the same sources gave different bytes');
  }
  await mkdir(outputFolder, { recursive: true });
  // Whole or not at all: a process that starts meanwhile must not read half of it.
  await writeFile(join(outputFolder, 'lexbor.wasm.new'), built.wasm);
  await rename(join(outputFolder, 'lexbor.wasm.new'), join(outputFolder, 'lexbor.wasm'));
  await writeFile(join(outputFolder, 'lexbor.LICENSE'), built.license);
  await writeFile(join(outputFolder, 'lexbor.NOTICE'), built.notice);
  process.stdout.write(
    [
      `dist-parser/lexbor.wasm  ${built.wasm.byteLength} bytes${values.verify ? ', the same in two builds' : ''}`,
      `  sha256    ${sha256(built.wasm)}`,
      `  source    lexbor in ${source.pin.name} ${source.pin.version}, sha256 ${source.pin.hash}`,
      `  compiler  ${toolchain.clang.version}; ${toolchain.linker.version}`,
      '',
    ].join('\n'),
  );
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : (error.stderr ?? error.stack)}\n`);
  process.exitCode = 1;
}
