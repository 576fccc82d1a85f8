// `--profile`: where the processor time of the measured process went, by the function's own time.
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where profiles are kept, or null where none were asked for. */
export const profileFolder = process.argv.includes('--profile')
  ? mkdtempSync(join(tmpdir(), 'meerkat-profile-'))
  : null;

const shownLines = 25;

/** Flags by which the threads that a process starts are profiled too, each into a file beside that of the process. */
export const threadProfileFlags = (name) =>
  profileFolder === null
    ? []
    : [
        '--import',
        `${new URL('profiled-threads.mjs', import.meta.url)}?${new URLSearchParams({ profileFolder, name })}`,
      ];

/** `dist/libs/bus/sqlite.js`, or `node_modules/zod`; null for what belongs to Node itself. */
function ownerOf({ url }) {
  const [, folder, rest = ''] =
    /\/(node_modules|dist|test|scripts)\/([^?]*)$/.exec(url.replace(/^.*\/node_modules\//, '/node_modules/')) ?? [];
  if (folder === undefined || url.startsWith('node:')) return null;
  if (folder !== 'node_modules') return `${folder}/${rest}`;
  const [scope = '', name = ''] = rest.split('/');
  return `node_modules/${scope.startsWith('@') ? `${scope}/${name}` : scope}`;
}

/**
 * Time by function, and by file or package, where what Node does itself counts for the nearest caller; greatest first,
 * with the share of the time in which the process was not idle.
 */
export function summarize(file) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
  const frames = new Map();
  const enter = (node, owner, byId) => {
    const found = ownerOf(node.callFrame) ?? owner;
    frames.set(node.id, { frame: node.callFrame, owner: found });
    for (const child of node.children ?? []) enter(byId.get(child), found, byId);
  };
  enter(nodes[0], 'Node itself', new Map(nodes.map((node) => [node.id, node])));
  const functions = new Map();
  const owners = new Map();
  let busyUs = 0;
  const count = (times, name, spentUs) => times.set(name, (times.get(name) ?? 0) + spentUs);
  for (const [index, id] of samples.entries()) {
    const { frame, owner } = frames.get(id);
    const spentUs = timeDeltas[index] ?? 0;
    if (frame.functionName === '(idle)') continue;
    const own = ownerOf(frame);
    busyUs += spentUs;
    count(
      functions,
      `${frame.functionName || '(anonymous)'} ${own === null ? `← ${owner}` : `${own}:${frame.lineNumber + 1}`}`,
      spentUs,
    );
    count(owners, owner, spentUs);
  }
  const ranked = (times) =>
    [...times]
      .sort(([, left], [, right]) => right - left)
      .slice(0, shownLines)
      .map(([name, spentUs]) => ({ name, ms: spentUs / 1_000, share: spentUs / busyUs }));
  return { functions: ranked(functions), owners: ranked(owners) };
}

/** To the terminal: every profile that was taken. */
export function tellProfiles() {
  if (profileFolder === null) return;
  for (const name of readdirSync(profileFolder)) {
    const { functions, owners } = summarize(join(profileFolder, name));
    const parts = [
      { title: 'by file or package', lines: owners },
      { title: 'by function', lines: functions },
    ];
    for (const { title, lines } of parts) {
      process.stderr.write(`\n${join(profileFolder, name)}, ${title}\n`);
      for (const { name: place, ms, share } of lines) {
        process.stderr.write(
          `  ${(share * 100).toFixed(1).padStart(5)} %  ${ms.toFixed(0).padStart(6)} ms  ${place}\n`,
        );
      }
    }
  }
}
