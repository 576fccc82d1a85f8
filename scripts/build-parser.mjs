// `npm run build:parser [-- --source FILE] [--verify]`: compiles the fast page parser to dist-parser/lexbor.wasm, from our
// glue in libs/sandbox/lexbor and lexbor's own source, which is taken from a package whose hash is known. Before that it
// compiles lexbor for this machine and lets it count its ways through pages of our own making: by those counts the
// compiler lays out the parser. The same sources and the same tools give the same bytes in any folder; `--verify` builds
// twice, training included, and compares them.
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { makeTrainingPages } from './training-pages.mjs';

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

  sudo apt-get install clang-19 lld-19 llvm-19 libclang-rt-19-dev

The last two train it; it is built without them too, slower by a tenth. Elsewhere install LLVM's clang and lld, or name
them: CLANG=/path/to/clang WASM_LD=/path/to/wasm-ld LLVM_PROFDATA=/path/to/llvm-profdata npm run build:parser
Without it Meerkat parses pages by parse5, which needs nothing.`;

/** What a program tells of itself; the version of a program that does not run is 0. */
function versionOf(path) {
  try {
    const told = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return { path, version: told.split('\n')[0], major: Number(/(?:version|LLD) (\d+)\./.exec(told)?.[1] ?? 0) };
  } catch {
    return { path, version: '', major: 0 };
  }
}

/** The first of the names that runs and is new enough. */
function findTool(chosen, name) {
  const names = chosen === undefined ? [...knownVersions.map((version) => `${name}-${version}`), name] : [chosen];
  const tool = names.map(versionOf).find(({ major }) => major >= oldestClang);
  if (tool === undefined) throw new Refusal(`${chosen ?? name} was not found or is too old.\n\n${toolchainHelp}`);
  return tool;
}

/** What reads the counts: of the compiler's own version, because each version writes them in its own way. */
function findProfiler({ path, major }) {
  const chosen = process.env.LLVM_PROFDATA;
  const beside = () => execFileSync(path, ['-print-prog-name=llvm-profdata'], { encoding: 'utf8' }).trim();
  const names = chosen === undefined ? [`llvm-profdata-${major}`, beside()] : [chosen];
  const profiler = names.map(versionOf).find((tool) => tool.major === major);
  if (profiler === undefined && chosen !== undefined)
    throw new Refusal(`${chosen} is not the llvm-profdata of version ${major}, which is the compiler's.`);
  return profiler;
}

async function inFolderOfItsOwn(work) {
  const folder = await mkdtemp(join(tmpdir(), 'meerkat-parser-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Compiled for this machine, with counters. */
const counting = '-fprofile-instr-generate';

/** Runs what counts, and has its counts made into what the compiler reads. */
async function count(profiler, folder, program, args) {
  const env = { ...process.env, LLVM_PROFILE_FILE: 'counts.profraw' };
  await run(join(folder, program), args, { cwd: folder, env });
  await run(profiler.path, ['merge', 'counts.profraw', '-o', 'counts.profdata'], { cwd: folder });
}

/** Why there can be no training here, or null: whether so small a program counts. */
async function missingForTraining(clang, profiler) {
  const help = `(sudo apt-get install llvm-${clang.major} libclang-rt-${clang.major}-dev)`;
  if (profiler === undefined) return `llvm-profdata-${clang.major} was not found ${help}`;
  return await inFolderOfItsOwn(async (folder) => {
    await writeFile(join(folder, 'probe.c'), '#include <stdio.h>\nint main(void) { return puts("here") < 0; }\n');
    try {
      await run(clang.path, [counting, 'probe.c', '-o', 'probe'], { cwd: folder });
      await count(profiler, folder, 'probe', []);
      return null;
    } catch (error) {
      const [reason] = `${error.stderr || error.message}`.trim().split('\n');
      return `${clang.path} makes no program for this machine that counts: ${reason} ${help}`;
    }
  });
}

async function findToolchain() {
  const clang = findTool(process.env.CLANG, 'clang');
  const linker = findTool(process.env.WASM_LD, 'wasm-ld');
  const targets = execFileSync(clang.path, ['--print-targets'], { encoding: 'utf8' });
  if (!/\bwasm32\b/.test(targets))
    throw new Refusal(`${clang.path} cannot compile to WebAssembly.\n\n${toolchainHelp}`);
  const profiler = findProfiler(clang);
  return { clang, linker, profiler, missing: await missingForTraining(clang, profiler) };
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

const ofLexbor = ['-Ilexbor/source', '-fno-ident', '-DLEXBOR_STATIC', '-DNDEBUG'];
const ofOurs = ['-std=c17', '-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter'];

/** Compiles with paths that are the same wherever the build runs. Resolves to the objects, in the order of the files. */
async function compileAll(clang, folder, { files, into, flagsOf }) {
  await mkdir(join(folder, into), { recursive: true });
  const objectOf = (file) => join(into, `${file.replaceAll('/', '_')}.o`);
  const waiting = [...files];
  const lane = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      await run(clang.path, [...flagsOf(file), '-c', file, '-o', objectOf(file)], { cwd: folder });
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return files.map(objectOf);
}

/** Has lexbor read the training pages on this machine. Resolves to the compiler's flag for what was counted. */
async function train({ clang, profiler }, folder, library, pages) {
  // Not optimised: the ways are counted as the source has them, and are the same.
  const flags = [...ofLexbor, counting];
  const trainer = 'glue/training/train.c';
  const objects = await compileAll(clang, folder, {
    files: [...library, trainer],
    into: 'training/objects',
    flagsOf: (file) => [...flags, ...(file === trainer ? ofOurs : ['-w'])],
  });
  await run(clang.path, [counting, ...objects, '-lm', '-o', 'training/train'], { cwd: folder });
  const names = pages.map(({ context }, at) => `${context}.${at}.html`);
  await Promise.all(names.map((name, at) => writeFile(join(folder, 'training', name), pages[at].html)));
  await count(profiler, join(folder, 'training'), 'train', names);
  return '-fprofile-instr-use=training/counts.profdata';
}

/** Compiles lexbor and the glue to WebAssembly. */
async function compileParser(clang, folder, library, glue, profile) {
  const target = ['--target=wasm32-unknown-unknown', '-nostdlibinc', '-isystem', 'glue/libc'];
  const features = ['-msimd128', '-mnontrapping-fptoint', '-msign-ext'];
  const flags = [...target, ...ofLexbor, '-O3', '-flto', ...features];
  const ofGlue = [...ofOurs, '-fno-builtin-malloc'];
  // Joined with the rest, its instructions for long copies would be taken for short ones everywhere.
  const ofCopying = [...ofGlue, '-fno-lto', '-fno-builtin', '-mbulk-memory'];
  const ownOf = (file) => {
    if (!file.startsWith('glue/')) return ['-w', ...profile];
    return file === 'glue/copy.c' ? ofCopying : ofGlue;
  };
  return await compileAll(clang, folder, {
    files: [...library, ...glue],
    into: 'objects',
    flagsOf: (file) => [...flags, ...ownOf(file)],
  });
}

/** One build in a folder of its own. Resolves to the bytes. */
async function build(toolchain, source, pages) {
  return await inFolderOfItsOwn(async (folder) => {
    await cp(glueFolder, join(folder, 'glue'), { recursive: true });
    await writeFile(join(folder, 'source.tar.gz'), source.bytes);
    const packed = `${source.pin.name}-${source.pin.version}`;
    await run('tar', ['-xzf', 'source.tar.gz', `${packed}/lexbor`], { cwd: folder });
    await rename(join(folder, packed, 'lexbor'), join(folder, 'lexbor'));
    const sources = 'lexbor/source/lexbor';
    const parts = await Promise.all(
      ['core', 'dom', 'html', 'ns', 'tag'].map(async (part) =>
        (await filesBelow(join(folder, sources, part), '.c')).map((name) => `${sources}/${part}/${name}`),
      ),
    );
    const library = [...parts.flat(), `${sources}/ports/posix/lexbor/core/memory.c`];
    const glue = (await filesBelow(join(folder, 'glue'), '.c'))
      .filter((name) => !name.startsWith('training'))
      .map((name) => `glue/${name}`);
    const profile = pages.length === 0 ? [] : [await train(toolchain, folder, library, pages)];
    const objects = await compileParser(toolchain.clang, folder, library, glue, profile);
    const linking = [
      '--lto-O3',
      '--no-entry',
      '--import-memory',
      `--max-memory=${maxMemoryBytes}`,
      '-z',
      `stack-size=${stackBytes}`,
      // A stack that overflows meets the end of memory, not data.
      '--stack-first',
      // In its place: joining.c.
      '--wrap=lexbor_mraw_realloc',
      '--gc-sections',
      '--strip-all',
    ];
    await run(toolchain.linker.path, [...linking, ...objects, '-o', 'lexbor.wasm'], { cwd: folder });
    const texts = ['LICENSE', 'NOTICE'].map((name) => readFile(join(folder, 'lexbor', name)));
    const [license, notice] = await Promise.all(texts);
    return { wasm: await readFile(join(folder, 'lexbor.wasm')), license, notice };
  });
}

function profileLine({ missing }, pages) {
  if (missing !== null) return `none: ${missing}`;
  const bytes = pages.reduce((sum, { html }) => sum + Buffer.byteLength(html), 0);
  return `trained on ${pages.length} pages, ${(bytes / 1e6).toFixed(1)} MB`;
}

async function main() {
  const { values } = parseArgs({
    options: { source: { type: 'string' }, verify: { type: 'boolean', default: false } },
  });
  const toolchain = await findToolchain();
  const source = await findSource(values.source);
  const pages = toolchain.missing === null ? makeTrainingPages() : [];
  const built = await build(toolchain, source, pages);
  if (values.verify) {
    const again = await build(toolchain, source, pages);
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
      `  profile   ${profileLine(toolchain, pages)}`,
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
