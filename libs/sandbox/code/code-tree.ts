/** The user's code as a syntax tree, for saying where it failed and why: the one home of the parser. Runs nothing. */
import { parse, parseExpressionAt, type AnyNode } from 'acorn';
import type { CodeForm } from '../sandbox.js';

export type { AnyNode } from 'acorn';

/** One node as it is evaluated: operands come before what is done with them. */
export interface Step {
  readonly node: AnyNode;
  /** The innermost function around it; null: none. */
  readonly inside: FunctionStep | null;
}

export interface FunctionStep {
  readonly node: AnyNode;
  /** As the engine names it in a stack; empty where it has none. */
  readonly name: string;
}

export interface CodeTree {
  readonly root: AnyNode;
  /** In the order in which they are evaluated within each function. */
  readonly steps: readonly Step[];
}

const options = {
  ecmaVersion: 'latest',
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
} as const;

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

export function childrenOf(node: AnyNode): readonly AnyNode[] {
  const children = new Set<AnyNode>();
  for (const value of Object.values(node) as readonly unknown[]) {
    for (const child of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (isNode(child)) children.add(child);
    }
  }
  // A member that is assigned to is set after its value is known.
  if (node.type === 'AssignmentExpression') return [...childrenOfTarget(node.left), node.right, node.left];
  return [...children].toSorted((one, other) => one.start - other.start);
}

/** What of an assigned member is evaluated before the value. */
function childrenOfTarget(target: AnyNode): readonly AnyNode[] {
  return target.type === 'MemberExpression' ? [target.object, ...(target.computed ? [target.property] : [])] : [];
}

export function isFunction(node: AnyNode): boolean {
  return /^(?:Function(?:Declaration|Expression)|ArrowFunctionExpression)$/.test(node.type);
}

function nameOf(node: AnyNode, parent: AnyNode | null): string {
  if ((node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression') && node.id) return node.id.name;
  if (parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier') return parent.id.name;
  if (parent?.type === 'AssignmentExpression' && parent.left.type === 'Identifier') return parent.left.name;
  if ((parent?.type === 'Property' || parent?.type === 'MethodDefinition') && parent.key.type === 'Identifier') {
    return parent.kind === 'get' || parent.kind === 'set' ? `${parent.kind} ${parent.key.name}` : parent.key.name;
  }
  return '';
}

/** null: this parser does not read it as the engine does. */
export function parseCode(code: string, form: CodeForm): CodeTree | null {
  try {
    const root: AnyNode = form === 'function' ? parseExpressionAt(code, 0, options) : parse(code, options);
    const steps: Step[] = [];
    const seen = new Set<AnyNode>();
    const visit = (node: AnyNode, parent: AnyNode | null, inside: FunctionStep | null): void => {
      if (seen.has(node)) return;
      seen.add(node);
      const within = isFunction(node) ? { node, name: nameOf(node, parent) } : inside;
      for (const child of childrenOf(node)) visit(child, node, within);
      steps.push({ node, inside });
    };
    visit(root, null, null);
    return { root, steps };
  } catch {
    return null;
  }
}

const lineEnd = /\r\n|[\n\r\u2028\u2029]/g;

/** Where a line and column (both from 1) are in the text. */
export function offsetOf(code: string, line: number, column: number): number {
  let start = 0;
  let left = line - 1;
  for (const match of code.matchAll(lineEnd)) {
    if (left === 0) break;
    left -= 1;
    start = match.index + match[0].length;
  }
  return Math.min(code.length, start + column - 1);
}

export function placeOf(code: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (const match of code.matchAll(lineEnd)) {
    if (match.index + match[0].length > offset) break;
    line += 1;
    start = match.index + match[0].length;
  }
  return { line, column: offset - start + 1 };
}
