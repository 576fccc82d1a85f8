/** Every sentence that a run, an explanation or a message can come to has a German text in the console: taken from the server's code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ts from 'typescript';
import { decisionReason, policy as policySchema } from '#contracts/policy';
import { initialAlert } from '../../services/execution/domain/alert/alert.js';
import { explainDecision } from '../../services/execution/domain/alert/explain-decision.js';
import type { DecidedRun } from '../../services/execution/domain/alert/wanted-message.js';
import { wordingDe } from '../../services/console/src/text/said/wording-de.js';

const isProduct = (name: string): boolean => /(?<!\.spec|\.kit|contract|\.d)\.ts$/.test(name);

function filesIn(path: string): readonly string[] {
  if (path.endsWith('.ts')) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const inner = join(path, entry.name);
    return entry.isDirectory() ? filesIn(inner) : isProduct(entry.name) ? [inner] : [];
  });
}

/** Each node of the files under these paths, with the nodes around it. */
function* nodesIn(paths: readonly string[]): Generator<ts.Node> {
  for (const file of paths.flatMap(filesIn)) {
    const nodes: ts.Node[] = [ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)];
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      yield node;
      node.forEachChild((child) => void nodes.push(child));
    }
  }
}

/** Stands for a value in a literal. */
const gap = '␣';

/** The text of a literal, with a gap for each value in it; null: it is none. */
function writtenIn(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map(({ literal }) => gap + literal.text).join('');
}

/** Words for those who write code or run this service: errors of ours, entries of the log, descriptions of fields. */
function isForOthers(node: ts.Node): boolean {
  for (let around = node.parent; around !== undefined; around = around.parent) {
    if (ts.isNewExpression(around) && /^(Type|Range)?Error$/.test(around.expression.getText())) return true;
    if (
      ts.isCallExpression(around) &&
      /\b(describe|meta|reject|unavailable|info|warn|error)$/.test(around.expression.getText())
    )
      return true;
  }
  return false;
}

const readsAsSentence = (text: string): boolean =>
  /^[A-Z`␣][^\n]*[.?]$/.test(text) && text.replaceAll(gap, '').trim().split(' ').length > 2;

function sentencesIn(paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const node of nodesIn(paths)) {
    const text = writtenIn(node);
    if (text !== null && readsAsSentence(text) && !isForOthers(node)) found.add(text);
  }
  return [...found];
}

/** What may stand in a gap. */
const values = [
  '7',
  'Every recipient has unsubscribed.',
  'this machine itself',
  'refused the client certificate',
  'set the clock of this instance',
] as const;

/** Of sentences made of several: what they may be as a whole. */
const wholes: Readonly<Record<string, readonly string[]>> = {
  '␣ is undefined: there is nothing of that name.': ['`a.b` is undefined: there is nothing of that name.'],
  '␣ For bytes there are Uint8Array, TextEncoder, atob() and btoa().': [
    'The code runs as in a page, not in Node.js; it has no modules. For bytes there are Uint8Array, TextEncoder, atob() and btoa().',
  ],
  "␣write [...document.querySelectorAll('…')].": [
    "That is a helper of the browser’s console; write [...document.querySelectorAll('…')].",
  ],
  "␣write document.querySelector('…').": [
    "That is a helper of the browser’s console; write document.querySelector('…').",
  ],
  "␣write console.log(…) or page.report('name', …).": [
    "That is a helper of the browser’s console; write console.log(…) or page.report('name', …).",
  ],
  '␣write the expression itself.': ['That is a helper of the browser’s console; write the expression itself.'],
  "␣write document.evaluate('…', document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue.": [
    "That is a helper of the browser’s console; write document.evaluate('…', document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue.",
  ],
  'If that may be so, write `?.`.': [
    '`list.at(9)` is undefined: the list has no such item. If that may be so, write `?.`.',
    '`list.at(9)` is undefined: the list has no such item. If that may be so, give page.number `{ or: null }` as well.',
  ],
  'The page is read as the server sends it, before any script of its own has run. If it may be missing, write `?.`.': [
    "`document.querySelector('#a')` found nothing: no element matches `'#a'`. The page is read as the server sends it, before any script of its own has run. If it may be missing, write `?.`.",
    '`at` found nothing: no element has that id. The page is read as the server sends it, before any script of its own has run. If it may be missing, give page.number `{ or: null }` as well.',
  ],
  'The page is no JSON: ␣.': [
    'SyntaxError: The page is no JSON: it is empty.',
    'SyntaxError: The page is no JSON: it is markup and begins with "<html>"; read it through document.',
    'SyntaxError: The page is no JSON: unexpected token at line 1, column 2; it begins with "{".',
  ],
  '␣ At least ␣ runs in a row had to be ended from outside: until one ends well or the code is changed, runs are ␣ intervals apart.':
    [
      'The code used more CPU time than its limit allows. At least 5 runs in a row had to be ended from outside: until one ends well or the code is changed, runs are 10 intervals apart.',
    ],
  'No run happened for ␣ (␣ to ␣), because ␣.': [
    'No run happened for one slot (1 to 2), because this instance was not running then, or was far behind.',
    'No run happened for 12 slots (1 to 2), because this instance was not running then, or was far behind.',
  ],
  'It missed ␣ and went on at ␣.': [
    'A run was due at 1 and had not begun: the instance was not running, or was behind. It missed one slot and went on at 2.',
    'A run was due at 1 and had not begun: the instance was not running, or was behind. It missed 12 slots and went on at 2.',
  ],
  'No run was due: the task had been paused␣.': [
    'No run was due: the task had been paused since 1.',
    'No run was due: the task had been paused, since 1 or before.',
  ],
  'The ␣ changed from ␣ to ␣ at ␣ (␣).': [
    'On 1 there were 2 runs, 3 of which failed; 4 made messages. The runs of that day are kept as figures alone. The health changed from ok to error at 5 (error_threshold).',
  ],
  'The ␣ ␣.': ['The broker refused the client certificate.', 'The receiver does not know the client certificate.'],
  'The broker answered ␣: ␣. The action was disabled.': [
    'The broker answered 0x84: set `version` to one that it speaks. The action was disabled.',
  ],
  'The operator of this service can allow it with EGRESS_ALLOW.': [
    'The address points to this machine itself, which is not reachable from here. The operator of this service can allow it with EGRESS_ALLOW.',
    'The address points to a carrier-grade NAT address, which is not reachable from here. The operator of this service can allow it with EGRESS_ALLOW.',
    'The host name points to an address that is not public, so it is not reachable from here. The operator of this service can allow it with EGRESS_ALLOW.',
  ],
  'The answer came too slowly: under ␣ bytes in ␣.': ['The answer came too slowly: under 1024 bytes in 30 s.'],
  'The answer ␣ within ␣.': ['The answer did not begin within 0.5 s.', 'The answer was not complete within 20 s.'],
  'Nearly all sites are out of reach at once, so it is likely the network here and not this site.': [
    'Nearly all sites are out of reach at once, so it is likely the network here and not this site. The connection to the server failed.',
  ],
  '␣ The site asked to be left alone (Retry-After), for another ␣ s.': [
    'The server answered 503 Service Unavailable, which is not among the accepted statuses. The site asked to be left alone (Retry-After), for another 60 s.',
  ],
  '␣ The site failed ␣ times in a row, so it is spared for another ␣ s.': [
    'The connection to the server failed. The site failed 5 times in a row, so it is spared for another 30 s.',
  ],
  '␣, but not as ␣ does: check the address.': [
    'Slack answered 200, but not as Slack does: check the address.',
    'Slack answered 200 (no_text), but not as Slack does: check the address.',
  ],
};

/** Thrown into the user's code, where they are JavaScript's. */
const thrown: ReadonlySet<string> = new Set(['The markup ␣.', 'The markup is not well-formed XML.']);

const isGerman = (sentence: string): boolean => wordingDe.ofSentence(sentence) !== null;

const hasGerman = (written: string): boolean =>
  wholes[written]?.every(isGerman) ?? values.some((value) => isGerman(written.replaceAll(gap, value)));

const literalsIn = (node: ts.Node): readonly string[] => {
  const text = writtenIn(node);
  if (text !== null) return [text];
  const found: string[] = [];
  node.forEachChild((child) => void found.push(...literalsIn(child)));
  return found;
};

const defaultPolicy = policySchema.parse({});
const quietHours = policySchema.parse({
  quietHours: [{ days: ['sat'], from: '10:00', to: '12:00', timezone: 'UTC' }],
}).quietHours;
const at = '2026-11-21T10:00:00.000Z';

/** Whatever the sentences are made of, also what no run comes to. */
const decidedRuns: fc.Arbitrary<DecidedRun> = fc
  .record({
    outcome: fc.constantFrom(true, false, null),
    isBlocked: fc.boolean(),
    force: fc.boolean(),
    late: fc.boolean(),
    notify: fc.boolean(),
    reason: fc.constantFrom(...decisionReason.options),
    transition: fc.constantFrom(
      null,
      { kind: 'health', from: 'ok', to: 'error' } as const,
      { kind: 'health', from: 'blocked', to: 'error' } as const,
    ),
    isUnheard: fc.boolean(),
    before: fc.record({ told: fc.constantFrom('true' as const, 'unknown' as const), triggeredAt: fc.constant(at) }),
    after: fc.record({
      consecutiveErrors: fc.integer({ min: 1, max: 5 }),
      pending: fc.integer({ min: 1, max: 2 }),
      outcomes: fc.constantFrom('t', 'tftf'),
      healthTold: fc.boolean(),
    }),
    policy: fc.record({
      notifyOn: fc.constantFrom('became_true' as const, 'every_true' as const, 'changed' as const),
      confirmations: fc.integer({ min: 1, max: 3 }),
      recoveryConfirmations: fc.integer({ min: 1, max: 3 }),
      cooldownSeconds: fc.constantFrom(0, 60),
      reminderSeconds: fc.constantFrom(0, 900),
      maxPerHour: fc.constantFrom(0, 3),
      flapWindow: fc.constantFrom(0, 4),
      dependsOn: fc.array(fc.constant('ntf_01'), { maxLength: 1 }),
      isQuiet: fc.boolean(),
    }),
  })
  .map(
    ({
      outcome,
      isBlocked,
      force,
      late,
      notify,
      reason,
      transition,
      isUnheard,
      before,
      after,
      policy: { isQuiet, ...policy },
    }) => ({
      result: {
        status: outcome === null ? 'failed' : 'succeeded',
        outcome,
        values: {},
        error: outcome === null ? { reason: isBlocked ? 'address_denied' : 'threw', message: 'Error: no' } : null,
        dryRun: false,
        force,
        finishedAt: '2026-11-21T10:05:00.000Z',
      },
      decision: {
        notify,
        reason,
        transition,
        ...(isUnheard && { wouldTell: { kind: 'triggered', reason: 'became_true' } as const }),
      },
      late,
      before: { ...initialAlert, ...before },
      after: { ...initialAlert, ...after },
      policy: { ...defaultPolicy, ...policy, quietHours: isQuiet ? quietHours : [] },
    }),
  );

const sources: Readonly<Record<string, readonly string[]>> = {
  'the network': ['libs/outbound'],
  'the loader of pages': ['libs/page-loader'],
  hints: ['libs/hints'],
  'the sandbox': [
    'libs/sandbox/quickjs.ts',
    'libs/sandbox/evaluator/sandbox-core.ts',
    'libs/sandbox/evaluator/check-batches.ts',
    'libs/sandbox/guest/guest-result.ts',
    'libs/sandbox/code',
    'libs/sandbox/prelude/outcome.ts',
    'libs/sandbox/prelude/page.ts',
  ],
  runs: [
    'services/execution/run.ts',
    'services/execution/execution-view.ts',
    'services/execution/page-evaluation.ts',
    'services/execution/skipped-slots-view.ts',
    'services/execution/domain/alert/lost-value.ts',
    'services/execution/preview/page-preview.ts',
  ],
  'moments without a run': ['services/execution/past/no-run.ts', 'services/execution/past/explain-folded.ts'],
  messages: [
    'services/delivery/attempt-result.ts',
    'services/delivery/delivery-view.ts',
    'services/delivery/message-builder.ts',
    'services/delivery/outgoing.ts',
    'services/delivery/send.ts',
    'services/delivery/peers',
    ...filesIn('libs/channels').filter((file) => !/(declaration|declarations|config-fields)\.ts$/.test(file)),
  ],
};

describe('the German for sentences of the server', () => {
  it.each(Object.entries(sources))('has one for each sentence of %s', (_, paths) => {
    const found = sentencesIn(paths);
    expect(found).not.toEqual([]);
    expect(found.filter((written) => !thrown.has(written) && !hasGerman(written))).toEqual([]);
  });

  it('has one for what each answer of a vendor means', () => {
    const reasons = [...nodesIn(['libs/channels'])].flatMap((node) =>
      ts.isPropertyAssignment(node) && node.name.getText() === 'because' ? literalsIn(node.initializer) : [],
    );
    expect(reasons.length).toBeGreaterThan(40);
    expect(reasons.filter((reason) => !hasGerman(`Vendor answered 403: ${reason}.`))).toEqual([]);
  });

  it('has one for each step of any decision', () => {
    fc.assert(
      fc.property(decidedRuns, (run) => {
        const steps = explainDecision(run).filter(({ rule }) => rule !== 'run');
        expect(steps.filter(({ message }) => !isGerman(message))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('has one for each reason why a message ended', () => {
    const reasons = [...nodesIn(['services/delivery', 'libs/channels'])].flatMap((node) => {
      if (ts.isPropertyAssignment(node) && node.name.getText() === 'reason') return literalsIn(node.initializer);
      if (!ts.isCallExpression(node) || node.expression.getText() !== 'refusal') return [];
      return node.arguments.slice(1, 2).flatMap(literalsIn);
    });
    expect(reasons).not.toEqual([]);
    expect([...new Set(reasons)].filter((reason) => wordingDe.ofDeliveryReason(reason) === null)).toEqual([]);
  });
});
