// Builds services/console to dist/console: the types of the API from the document that the compiled gateway declares, the
// pages by Vite, and a compressed copy of each file, so that the gateway compresses nothing while it serves.
import 'reflect-metadata';
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { build } from 'vite';

const compressible = /\.(html|js|css|svg)$/;
const schemaPath = 'services/console/src/api/schema.d.ts';

/** The routes of all controllers, read from what their decorators declared: nothing is started. */
async function openApiDocumentOf(root) {
  const at = (path) => pathToFileURL(join(root, 'dist', path)).href;
  const { GatewayModule } = await import(at('services/gateway/gateway.module.js'));
  const { openApiDocument } = await import(at('libs/http/openapi.js'));
  const declarations = Reflect.getMetadata('controllers', GatewayModule).flatMap(({ prototype }) =>
    Object.getOwnPropertyNames(prototype)
      .filter((name) => typeof prototype[name] === 'function')
      .flatMap((name) => Reflect.getMetadata('__fastify_route_config__', prototype[name])?.declaration ?? []),
  );
  return openApiDocument(declarations);
}

/** Writes the file only where it differs, so that an unchanged API makes nothing stale. */
async function writeSchema(root) {
  const file = join(root, schemaPath);
  const nodes = await openapiTypescript(await openApiDocumentOf(root), { alphabetize: true });
  const text = `// Made by \`npm run build\` from the OpenAPI document.\n${astToString(nodes)}`;
  if ((await readFile(file, 'utf8').catch(() => '')) === text) return;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

async function compressAll(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && compressible.test(entry.name));
  await Promise.all(
    files.map(async (entry) => {
      const file = join(entry.parentPath, entry.name);
      const content = await readFile(file);
      const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
      await Promise.all([
        promisify(brotliCompress)(content, quality).then((packed) => writeFile(`${file}.br`, packed)),
        promisify(gzip)(content, { level: 9 }).then((packed) => writeFile(`${file}.gz`, packed)),
      ]);
    }),
  );
}

async function newestOf(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const times = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).mtimeMs);
  return Math.max(0, ...(await Promise.all(times)));
}

/** Vite builds what this variable says, such as React for tests where a test runner has set it: what is built is the product. */
async function buildForUse(options) {
  const { NODE_ENV: before } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    await build(options);
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

/** `isApiNew`: the gateway was compiled anew, so its document may differ. */
export async function buildConsole(root, { onlyStale, isApiNew }) {
  const home = join(root, 'services', 'console');
  const output = join(root, 'dist', 'console');
  const hasSchema = await stat(join(root, schemaPath)).then(
    () => true,
    () => false,
  );
  if (isApiNew || !hasSchema) await writeSchema(root);
  const builtAt = (await stat(join(output, 'index.html')).catch(() => null))?.mtimeMs ?? 0;
  if (onlyStale && builtAt > 0 && builtAt >= (await newestOf(home))) return;
  await rm(output, { recursive: true, force: true });
  await buildForUse({
    configFile: false,
    root: home,
    logLevel: 'error',
    publicDir: false,
    // No inline script or style: the policy of the pages allows none.
    build: {
      outDir: output,
      emptyOutDir: false,
      target: 'es2023',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      sourcemap: false,
      rolldownOptions: {
        // What the first page needs comes as one file: as many as there are pieces would wait for each other, since a
        // browser asks for six at a time.
        output: { codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] } },
      },
    },
    worker: { format: 'es' },
  });
  await compressAll(output);
}
