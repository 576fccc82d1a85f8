/**
 * What failed in the user's code, more exactly than the engine says. The engine writes down places of calls and statements
 * alone, so "cannot read property 'x' of null" points at whatever call came last; the tree of the code knows where `x` is
 * read. The same tree says why something was null, and what to write instead.
 */
import { adviceFor, whyNoNumber, type Fault } from './advice.js';
import { offsetOf, parseCode, placeOf } from './code-tree.js';
import type { AnyNode, CodeTree, Step } from './code-tree.js';
import { isUserFrame, topFrame } from '../guest/guest-result.js';
import type { CodeForm, SandboxFailure } from '../sandbox.js';

const readOfNothing = /^TypeError: cannot (?:read|set) property '([^]*)' of (null|undefined)$/;
const unknownName = /^ReferenceError: (\S+) is not (?:defined|initialized)$/;
const notIterable =
  /^TypeError: (?:value is not iterable|cannot read property 'Symbol.iterator' of (?:null|undefined))$/;
const notAnObject = 'TypeError: Cannot convert undefined or null to object';
const notCallable = /^TypeError: not a (function|constructor)$/;
const threwOther = /^The code threw .*, which is not an Error/;
const shownSource = 60;

function keyOf(node: AnyNode): string | null {
  if (node.type !== 'MemberExpression') return null;
  const { property, computed } = node;
  if (!computed && property.type === 'Identifier') return property.name;
  if (property.type === 'PrivateIdentifier') return `#${property.name}`;
  return property.type === 'Literal' ? String(property.value) : null;
}

/** What is written there, on one line. */
function sourceOf(code: string, node: AnyNode): string {
  const text = code.slice(node.start, node.end).replace(/\s+/g, ' ');
  return text.length > shownSource ? `${text.slice(0, shownSource)}…` : text;
}

/** Which nodes can have failed with this message, and where each is shown. */
function suspect(message: string): ((node: AnyNode) => number | null) | null {
  const iterated = notIterable.test(message);
  const key = iterated ? undefined : readOfNothing.exec(message)?.[1];
  const name = unknownName.exec(message)?.[1];
  if (key !== undefined) {
    return (node) => (node.type === 'MemberExpression' && keyOf(node) === key ? node.property.start : null);
  }
  if (name !== undefined) return (node) => (node.type === 'Identifier' && node.name === name ? node.start : null);
  if (message === notAnObject) return (node) => (node.type === 'ObjectPattern' ? node.start : null);
  if (!iterated) return null;
  return (node) => {
    if (node.type === 'SpreadElement') return node.argument.start;
    if (node.type === 'ForOfStatement') return node.right.start;
    return node.type === 'ArrayPattern' ? node.start : null;
  };
}

/** A key that is not written out, `list[index]`: it may have been any. */
function isComputed(node: AnyNode): boolean {
  return node.type === 'MemberExpression' && node.computed && node.property.type !== 'Literal';
}

interface Found {
  readonly node: AnyNode;
  readonly at: number;
}

interface Frame {
  readonly name: string;
  /** Where the line is on which the engine saw it. */
  readonly lineFrom: number;
  readonly lineTo: number;
  readonly from: number;
}

/** Of all that can have failed, what fits the engine's frame best: in that function, and behind what it last wrote down. */
function bestOf(tree: CodeTree, message: string, { name, lineFrom, lineTo, from }: Frame): Found | null {
  const shownAt = suspect(message);
  if (shownAt === null) return null;
  const rate = ({ node, inside }: Step, at: number): number => {
    const named = (inside?.name ?? '') === name || (inside === null && name === '<eval>');
    const around = inside === null || (inside.node.start <= from && from < inside.node.end);
    const begins = inside !== null && inside.node.start >= lineFrom && inside.node.start < lineTo;
    return (named ? 8 : 0) + (around || begins ? 4 : 0) + (at >= from ? 2 : 0) + (isComputed(node) ? 0 : 1);
  };
  let best: (Found & { readonly rating: number }) | null = null;
  const reads = readOfNothing.test(message);
  for (const step of tree.steps) {
    const at = shownAt(step.node) ?? (reads && isComputed(step.node) ? step.node.start : null);
    if (at === null) continue;
    const rating = rate(step, at);
    if (best === null || rating > best.rating) best = { node: step.node, at, rating };
  }
  return best;
}

/** What was called: the engine wrote down the place of the call, or of the last name among its arguments. */
function calleeAt(tree: CodeTree, offset: number): Fault | null {
  let around: Fault | null = null;
  for (const { node } of tree.steps) {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') continue;
    const { callee } = node;
    // The code made an error of that wording itself: the call of its constructor is valid.
    if (callee.type === 'Identifier' && callee.name.endsWith('Error')) continue;
    const at = callee.type === 'MemberExpression' && !callee.computed ? callee.property.start : callee.start;
    if (at === offset || node.start === offset) return { node: callee, at };
    // Inner calls come first.
    if (around === null && node.start <= offset && offset < node.end) around = { node: callee, at };
  }
  return around;
}

/** What is no error has no place of its own: the one `throw` that can have thrown it. */
function otherThrown(tree: CodeTree): Fault | null {
  const thrown = tree.steps.flatMap(({ node }) =>
    node.type === 'ThrowStatement' && node.argument.type !== 'NewExpression' ? [node] : [],
  );
  const [only] = thrown;
  return only === undefined || thrown.length > 1 ? null : { node: null, at: only.start };
}

/** The operand that was to be walked through. */
function iteratedBy(node: AnyNode): AnyNode | null {
  if (node.type === 'SpreadElement') return node.argument;
  return node.type === 'ForOfStatement' ? node.right : null;
}

function messageOf(code: string, { message }: SandboxFailure, { node }: Fault): string {
  const word = notCallable.exec(message)?.[1];
  if (word !== undefined && node !== null) return `TypeError: ${sourceOf(code, node)} is not a ${word}`;
  if (!notIterable.test(message)) return message;
  const iterated = node === null ? null : iteratedBy(node);
  const what = iterated === null ? 'what should be a list' : sourceOf(code, iterated);
  const nothing = /of (null|undefined)$/.exec(message)?.[1];
  return `TypeError: ${what} is ${nothing === undefined ? '' : `${nothing}, which is `}not iterable`;
}

function faultIn(tree: CodeTree, code: string, failure: SandboxFailure, stack: string): Fault {
  const { message, line = 1, column = 1 } = failure;
  if (threwOther.test(message)) return otherThrown(tree) ?? { node: null, at: -1 };
  const frame = topFrame(stack);
  const from = offsetOf(code, line, column);
  const called = notCallable.test(message) && isUserFrame(frame) ? calleeAt(tree, from) : null;
  if (called !== null) return called;
  if (failure.line === undefined) return { node: null, at: -1 };
  if (!isUserFrame(frame)) return { node: null, at: from };
  const name = /^\s*at (.*) \(/.exec(frame)?.[1] ?? '';
  const lines = { lineFrom: offsetOf(code, line, 1), lineTo: offsetOf(code, line + 1, 1) };
  return (
    bestOf(tree, message, { name: name === '<anonymous>' ? '' : name, ...lines, from }) ?? { node: null, at: from }
  );
}

/** The call of page.number that found none: the innermost one around the place. */
function withoutNumber(tree: CodeTree, code: string, failure: SandboxFailure): SandboxFailure {
  const { line, column } = failure;
  if (line === undefined || column === undefined) return failure;
  const offset = offsetOf(code, line, column);
  for (const { node } of tree.steps) {
    if (node.type !== 'CallExpression' || keyOf(node.callee) !== 'number') continue;
    const [source] = node.arguments;
    if (source === undefined || offset < node.start || offset > node.end) continue;
    const isNothing = / was given (?:null|undefined)/.test(failure.message);
    const hint = isNothing ? whyNoNumber(tree, code, source) : null;
    return { ...failure, ...placeOf(code, node.start), ...(hint === null ? {} : { hint }) };
  }
  return failure;
}

/** The failure with its exact place, a message that names what failed, and a hint where there is one. */
export function explained(failure: SandboxFailure, code: string, form: CodeForm, stack: string): SandboxFailure {
  const { reason } = failure;
  if (reason !== 'threw' && reason !== 'not_boolean' && reason !== 'number_not_found') return failure;
  const tree = parseCode(code, form);
  if (tree === null) return failure;
  if (reason === 'number_not_found') return withoutNumber(tree, code, failure);
  const fault = failure.reason === 'threw' ? faultIn(tree, code, failure, stack) : { node: null, at: -1 };
  const hint = adviceFor(tree, code, form, failure, fault);
  return {
    ...failure,
    message: messageOf(code, failure, fault),
    ...(fault.at < 0 ? {} : placeOf(code, fault.at)),
    ...(hint === null ? {} : { hint }),
  };
}
