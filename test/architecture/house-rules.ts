/** The rules of the house that neither the linter nor dependency-cruiser can keep: what a file is called and what it says. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readsAlone, testTitles } from './test-titles.js';

export interface HouseRule {
  readonly name: string;
  /** What to do instead. */
  readonly advice: string;
  readonly appliesTo: RegExp;
  readonly exceptIn?: RegExp;
  /** Matched against the file's path. */
  readonly path?: RegExp;
  /** Matched against the code, comments blanked out. */
  readonly code?: RegExp;
  /** Matched against everything, comments included. */
  readonly text?: RegExp;
  /** What takes more than an expression: the lines that break the rule, each with what stands there. */
  readonly lines?: (text: string) => readonly Breach[];
}

interface Breach {
  readonly line: number;
  readonly found: string;
}

const anyCode = /\.(ts|mjs|cjs)$/;
const tests = /\.(spec|contract)\.ts$|^test\//;

/** Where the words of docs/glossary.md are kept to; the others follow. */
const sweptFolders = ['libs', 'services', 'test'] as const;
const inSweptFolders = (files: string): RegExp => new RegExp(`^(${sweptFolders.join('|')})/.*${files}$`);

/** Words for which docs/glossary.md has another, and ways to speak that no reader searches for. It lists them too. */
export const bannedWords = [
  'whoever',
  'lies back',
  'in hand',
  'onlooker',
  'told of',
  'tellings',
  'news',
  'latecomer',
  'judgement',
  'tailer',
  'teller',
  'building ahead',
  'built ahead',
  'another history',
  'other history',
  'keeper',
  'occasion',
  'cleaning round',
] as const;

const banned = new RegExp(String.raw`\b(${bannedWords.join('|')})s?\b`, 'i');
const typeCalledParts = /\b(?:interface|type|class)\s+\w+Parts\b/;

/** Names are looked at word by word: `newsMs` is news, `otherHistoryOf` is another history. */
function bannedIn(text: string): readonly Breach[] {
  return text.split('\n').flatMap((line, index) => {
    const words = line.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
    const found = banned.exec(words)?.[0] ?? typeCalledParts.exec(line)?.[0];
    return found === undefined ? [] : [{ line: index + 1, found }];
  });
}

export const houseRules: readonly HouseRule[] = [
  {
    name: 'environment-in-one-place',
    advice: 'Read settings from the Config that libs/runtime/config.ts parsed.',
    appliesTo: /^(libs|services)\//,
    exceptIn: /^libs\/runtime\/config\.ts$|\.(spec|contract)\.ts$/,
    code: /\bprocess\s*(\?\.|\.|\[['"])\s*env\b|\{[^}]*\benv\b[^}]*\}\s*(=\s*process\b|from\s*['"](node:)?process['"])/,
  },
  {
    name: 'no-index-files',
    advice: 'Name the file after what it holds and import it by that name.',
    appliesTo: anyCode,
    path: /(^|\/)index\.[^/]+$/,
  },
  {
    name: 'no-utils',
    advice: 'Name the concept and put it in the library that owns the word.',
    appliesTo: anyCode,
    path: /(^|\/)(utils?|helpers?|misc)(\/|[.-][^/]*$)/i,
  },
  {
    name: 'no-enums',
    advice: 'Use a union of literals, with an `as const` array where the values are needed.',
    appliesTo: /\.ts$/,
    code: /^[ \t]*(export\s+)?(declare\s+)?(const\s+)?enum\s+\w+/m,
  },
  {
    name: 'deciders-are-pure',
    advice: 'Time, ids and chance arrive inside the command or the event.',
    appliesTo: /^services\/[^/]+\/(domain\/.*|[^/]*-views?)\.ts$|^libs\/channels\/.*\.ts$/,
    exceptIn: tests,
    code: /\bDate\.now\(|\bnew Date\(\s*\)|\bMath\.random\(|\brandom(UUID|Bytes|Int)\(|\bperformance\.now\(|^\s*(export\s+)?async function/m,
  },
  {
    name: 'projections-in-view-files',
    advice: 'Declare a projection in a file called <noun>-view.ts, where deciders-are-pure looks at it.',
    appliesTo: /^services\/(?!host\/)/,
    exceptIn: /-views?\.ts$|\.(spec|kit)\.ts$/,
    code: /:\s*(readonly\s+)?Projected\s*(<|\[)/,
  },
  {
    name: 'one-service-runner',
    advice: 'Put it into the service value (libs/eventing/service.ts); the one runner starts and drains it.',
    appliesTo: /^services\//,
    code: /\b(OnModuleInit|OnModuleDestroy|OnApplicationBootstrap|BeforeApplicationShutdown|OnApplicationShutdown)\b/,
  },
  {
    name: 'one-sleep',
    advice: 'Use sleep of libs/concurrency, which a signal ends.',
    appliesTo: /^(libs|services)\//,
    exceptIn: tests,
    code: /import[^;]*\bsetTimeout\b[^;]*from\s*['"](node:)?timers\/promises['"]/,
  },
  {
    name: 'private-by-hash',
    advice: 'Write #name. Where Nest hands over what it injects, `@Inject(…) private readonly name` stays.',
    appliesTo: /^(libs|services)\/.*(?<!\.d)\.tsx?$/,
    code: /^(?!.*@Inject\()(?!.*\b(?:private|protected) constructor\b).*\b(?:private|protected)\s+(?:(?:readonly|static|async|override|get|set)\s+)*[A-Za-z_]\w*\s*[?!]?\s*[:(;=<]/m,
  },
  {
    name: 'no-http-numbers',
    advice: 'Throw an AppError (reject, notFound, unavailable); libs/http turns it into an answer.',
    appliesTo: /^(libs|services)\//,
    exceptIn: /^libs\/http\/|\.(spec|contract)\.ts$/,
    code: /\b(HttpException|HttpStatus|(BadRequest|Unauthorized|Forbidden|NotFound|Conflict|InternalServerError|ServiceUnavailable)Exception)\b/,
  },
  {
    name: 'cqrs-is-a-front-door',
    advice: 'Use CommandBus and QueryBus alone; events go through the store, where a failed handler is tried again.',
    appliesTo: /^(libs|services)\//,
    code: /import[^;]*\b(AggregateRoot|EventBus|EventPublisher|EventsHandler|IEventHandler|Saga|ofType)\b[^;]*from\s*['"]@nestjs\/cqrs['"]/,
  },
  {
    name: 'responders-are-commands',
    advice: 'Answer a request by the handler of a command or a query: a responder of the service value names which.',
    appliesTo: /^services\//,
    exceptIn: /\.(spec|kit)\.ts$/,
    code: /\.respond\(|\b(CommandBus|QueryBus)\b|\b(commands|queries)\.execute\(/,
  },
  {
    name: 'one-handler-of-a-kind',
    advice: 'Add a variant to the command or query class that the service has.',
    appliesTo: /^services\//,
    exceptIn: /\.(spec|kit)\.ts$/,
    code: /@CommandHandler\([\s\S]*@CommandHandler\(|@QueryHandler\([\s\S]*@QueryHandler\(/,
  },
  {
    name: 'no-sleep-in-tests',
    advice: 'Wait for the thing itself with a probe, or move a fixed clock.',
    appliesTo: /\.(spec|contract)\.ts$/,
    code: /timers\/promises|\bawait\s+(sleep|delay)\(|new Promise(<[^>]*>)?\(\s*\(?\s*(\w+)[^)=]*\)?\s*=>[^;]*?\bsetTimeout\(\s*\2\b/,
  },
  {
    name: 'no-retry-until-green',
    advice: 'Find out why it fails.',
    appliesTo: tests,
    code: /\bjest\.retryTimes\(|\b(it|test)\.todo\(/,
  },
  {
    name: 'no-mocked-modules',
    advice:
      'Use SQLite in memory, a fixed clock or a scripted Outbound; third parties are played at the outbound port.',
    appliesTo: tests,
    code: /\bjest\.(mock|doMock|unstable_mockModule)\(/,
  },
  {
    name: 'titles-read-alone',
    advice:
      'Name the subject in `describe` and what it does in `it`: a sentence of four words or more, by docs/glossary.md.',
    appliesTo: inSweptFolders(String.raw`\.(spec|contract|run)\.ts`),
    lines: (text) =>
      testTitles(text)
        .filter((title) => !readsAlone(title.text) || bannedIn(title.text).length > 0)
        .map((title) => ({ line: title.line, found: title.text })),
  },
  {
    name: 'words-of-the-glossary',
    advice: 'Take the word that docs/glossary.md has for it.',
    appliesTo: inSweptFolders(String.raw`\.(ts|mjs|cjs)`),
    exceptIn: /\.(spec|contract|kit)\.ts$|^test\//,
    lines: bannedIn,
  },
  {
    name: 'nothing-left-to-do',
    advice: 'Do it now, or write an issue.',
    appliesTo: anyCode,
    text: /\b(TODO|FIXME|HACK)\b/,
  },
  {
    name: 'suppressions-give-a-reason',
    advice: 'Write `oxlint-disable-next-line <rule> -- <why>`: one line, one rule, one reason.',
    appliesTo: anyCode,
    text: /(oxlint|eslint)-disable(?!-next-line [\w@/-]+ -- \S)|@ts-(ignore|nocheck)/,
  },
];

/** Comments become blanks of the same length. Strings that hold `//` keep it where a colon stands before, as in addresses. */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|[^:'"`\\/])\/\/.*$/gm, (_line, before: string) => before);
}

export interface BrokenRule extends Breach {
  readonly rule: string;
}

function firstMatch(pattern: RegExp | undefined, text: string): readonly Breach[] {
  const match = pattern?.exec(text);
  if (match === null || match === undefined) return [];
  return [{ line: text.slice(0, match.index).split('\n').length, found: match[0].trim() }];
}

/** The rules a file breaks and where. `path` is relative to the root of the repository, with forward slashes. */
export function brokenRules(path: string, text: string): readonly BrokenRule[] {
  const code = withoutComments(text);
  return houseRules
    .filter((rule) => rule.appliesTo.test(path) && rule.exceptIn?.test(path) !== true)
    .flatMap((rule) =>
      [
        ...firstMatch(rule.path, path),
        ...firstMatch(rule.code, code),
        ...firstMatch(rule.text, text),
        ...(rule.lines?.(text) ?? []),
      ].map((breach) => ({ ...breach, rule: rule.name })),
    );
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Every code file under the folders, by path relative to `root`. */
export async function sourceFiles(
  root: string,
  folders: readonly string[],
  skip: RegExp = /(^|\/)(node_modules|planted)\//,
): Promise<readonly SourceFile[]> {
  const entries = await Promise.all(
    folders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true })),
  );
  const paths = entries
    .flat()
    .filter((entry) => entry.isFile() && anyCode.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !skip.test(path))
    .sort();
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })));
}
