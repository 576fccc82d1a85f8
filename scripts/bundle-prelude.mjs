// Makes the scripts of the sandbox's prelude (libs/sandbox/prelude-source.ts) from its compiled modules: one closure for each,
// because real modules could be imported again by the user's code, and in one piece the engine's compiler would leave twice as
// much of the memory, which is imaged, in shreds. The order is that of the imports; what only `lazyModule('name')` leads to
// stays text until it is asked for.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'acorn';
import { transform } from 'esbuild';

const entry = 'main';
/** Where the scripts find each other's exports while they are evaluated; the last one removes it. */
const frameName = 'preludeFrame';
const frame = `globalThis.${frameName} = (function () {
'use strict';
const texts = { __proto__: null };
const files = { __proto__: null };
const evaluate = eval;
function loadLazyModule(name) {
return (files[name] ??= evaluate(texts[name])(loadLazyModule));
}
return { texts, files, loadLazyModule };
})();`;

const asScript = (body) =>
  `(function () {\n'use strict';\nconst { texts, files, loadLazyModule } = ${frameName};\n${body}\n})()`;

const nodesOf = function* (node) {
  if (typeof node?.type === 'string') yield node;
  for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) yield* nodesOf(child);
};

/** The names that a top-level statement declares. */
const declaredBy = (declaration) =>
  declaration.type === 'VariableDeclaration'
    ? declaration.declarations.map(({ id }) => id.name)
    : [declaration.id.name];

const bindingOf = ({ imported, local }) =>
  imported.name === local.name ? local.name : `${imported.name}: ${local.name}`;

/** A module's dependencies, what it exports, and its code with imports from wherever `read` says. */
function readModule(name, source) {
  const statements = parse(source, { ecmaVersion: 'latest', sourceType: 'module' });
  const edits = [];
  const [imports, exported, lazy] = [[], [], []];
  for (const statement of statements.body) {
    const { type, start, end } = statement;
    if (type === 'ImportDeclaration') {
      const from = statement.source.value.replace('./', '').replace('.js', '');
      const bindings = statement.specifiers.map(bindingOf).join(', ');
      imports.push(from);
      edits.push({ start, end, code: (read) => `const { ${bindings} } = ${read(from)};` });
    } else if (type === 'ExportNamedDeclaration') {
      if (statement.specifiers.length > 0) throw new Error(`${name}: a prelude module exports declarations only`);
      if (statement.declaration !== null) exported.push(...declaredBy(statement.declaration));
      edits.push({ start, end: statement.declaration?.start ?? end, code: () => '' });
    } else if (type.startsWith('Export')) throw new Error(`${name}: a prelude module exports by name only`);
  }
  for (const node of nodesOf(statements)) {
    if (node.type === 'CallExpression' && node.callee.name === 'lazyModule') lazy.push(node.arguments[0].value);
  }
  const asFunction = (read) => {
    let [body, at] = ['', 0];
    for (const { start, end, code } of edits) {
      body += source.slice(at, start) + code(read);
      at = end;
    }
    return `(function () {\n${body}${source.slice(at)}\nreturn { ${exported.join(', ')} };\n})`;
  };
  return { name, imports, lazy, asFunction };
}

/** The names reached from `roots` over imports, each after what it imports from. Throws where imports go in a circle. */
function inOrder(modules, roots) {
  const [order, open] = [new Set(), []];
  const visit = (name) => {
    if (order.has(name)) return;
    if (open.includes(name)) throw new Error(`the prelude's imports go in a circle: ${[...open, name].join(' → ')}`);
    const module = modules.get(name);
    if (module === undefined) throw new Error(`the prelude has no module ${name}`);
    open.push(name);
    module.imports.forEach(visit);
    open.pop();
    order.add(name);
  };
  roots.forEach(visit);
  return [...order];
}

/** Names of modules that nothing imports any more once the one at a place is evaluated: what only the image's making needed. */
function releasedAfter(modules, order, lazy) {
  const lastUse = new Map(order.map((name, at) => [name, at]));
  order.forEach((name, at) => modules.get(name).imports.forEach((from) => lastUse.set(from, at)));
  for (const name of [entry, ...lazy.flatMap((each) => modules.get(each).imports)]) lastUse.delete(name);
  return (at) => [...lastUse].flatMap(([name, use]) => (use === at ? [name] : []));
}

/** The engine keeps the source of each function, nested ones again: what only people read would be copied at each restore. */
async function withoutComments(code) {
  const { code: shorter } = await transform(code, { minifyWhitespace: true, legalComments: 'none', target: 'es2023' });
  return shorter.trim();
}

/** Scripts to be evaluated one after the other; the last results in the functions through which the host enters. */
async function makeScripts(folder) {
  const names = (await readdir(folder)).flatMap((file) => (file.endsWith('.js') ? [file.slice(0, -'.js'.length)] : []));
  const read = async (name) => [name, readModule(name, await readFile(join(folder, `${name}.js`), 'utf8'))];
  const modules = new Map(await Promise.all(names.map(read)));
  const order = inOrder(modules, [entry]);
  const reached = new Set(order);
  for (const name of reached)
    for (const each of [...modules.get(name).lazy, ...modules.get(name).imports]) reached.add(each);
  const lazy = [...reached].filter((name) => !order.includes(name));
  inOrder(modules, lazy);
  const released = releasedAfter(modules, order, lazy);
  const lazyScript = async (name) => {
    const source = modules.get(name).asFunction((from) => `loadLazyModule('${from}')`);
    const text = await withoutComments(`(function (loadLazyModule) {'use strict';return ${source}();})`);
    return asScript(`texts['${name}'] = ${JSON.stringify(text)};`);
  };
  const eagerScript = (name, at) => {
    const source = modules.get(name).asFunction((from) => `files['${from}']`);
    const releases = released(at).map((each) => `\ndelete files['${each}'];`);
    return withoutComments(asScript(`files['${name}'] = ${source}();${releases.join('')}`));
  };
  const last = asScript(`delete globalThis.${frameName};\nreturn files.${entry}.guestEntry;`);
  return [frame, ...(await Promise.all(lazy.map(lazyScript))), ...(await Promise.all(order.map(eagerScript))), last];
}

/** Writes the scripts of the modules compiled into `folder` as a list in JSON. */
export async function bundlePrelude(folder, file) {
  await writeFile(file, JSON.stringify(await makeScripts(folder)));
}
