/** XPath 1.0 expressions: text into functions of a context. */
import type { Context } from './xpath-functions.js';
import { functions } from './xpath-functions.js';
import type { NodeTest } from './xpath-steps.js';
import { along, axes, inOrder, reverseAxes, topOf } from './xpath-steps.js';
import type { Item, Value } from './xpath-values.js';
import { asBoolean, asNumber, compareValues } from './xpath-values.js';

type Gives = 'nodes' | 'text' | 'number' | 'boolean';

export interface Expression {
  readonly gives: Gives;
  /** Whether it asks for `position()` or `last()`. */
  readonly isPlaced: boolean;
  evaluate(context: Context): Value;
}

interface Step {
  readonly axis: string;
  readonly test: NodeTest;
  readonly predicates: readonly Expression[];
}

const tokenPattern =
  /[ \t\r\n]*(?:(\d+(?:\.\d*)?|\.\d+)|"([^"]*)"|'([^']*)'|(\/\/|::|\.\.|!=|<=|>=|[()[\].@,/|+\-=<>*$])|([A-Za-z_\u00c0-\u1fff\u2070-\u218f\u2c00-\u2fef\u3001-\ufffd][\w.\-\u00b7-\u1fff\u203f\u2040\u2070-\u218f\u2c00-\u2fef\u3001-\ufffd]*)|($)|([\s\S]))/y;

type TokenKind = 'number' | 'text' | 'mark' | 'name' | 'operator' | 'end';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** A name with its prefix stands without blanks. */
  readonly at: number;
  readonly end: number;
}

export class SyntaxFault extends Error {}

const operatorNames = ' and or mod div ';

/** After these what follows is no operator, whatever it is called. */
const beforeOperand = ' @ :: ( [ , and or mod div * / // | + - = != < <= > >= ';

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let last = null as Token | null;
  tokenPattern.lastIndex = 0;
  for (;;) {
    // A colon stands between a prefix and a name.
    const colon: number = last?.kind === 'name' && text[last.end] === ':' && text[last.end + 1] !== ':' ? last.end : -1;
    if (colon >= 0 && last !== null) {
      const rest = /^:(\*|[A-Za-z_\u0080-\uffff][\w.\-\u0080-\uffff]*)/.exec(text.slice(colon));
      if (rest === null) throw new SyntaxFault();
      last = { kind: 'name', text: `${last.text}${rest[0]}`, at: last.at, end: colon + rest[0].length };
      tokens[tokens.length - 1] = last;
      tokenPattern.lastIndex = last.end;
    }
    const match = tokenPattern.exec(text);
    if (match === null) throw new SyntaxFault();
    const [whole, number, double, single, mark, name, end] = match;
    const at = tokenPattern.lastIndex - whole.trimStart().length;
    const isOperator: boolean =
      last !== null &&
      !(last.kind === 'operator' || (last.kind === 'mark' && beforeOperand.includes(` ${last.text} `)));
    const put = (kind: TokenKind, text_: string): void => {
      last = { kind, text: text_, at, end: tokenPattern.lastIndex };
      tokens.push(last);
    };
    if (number !== undefined) put('number', number);
    else if (double !== undefined || single !== undefined) put('text', double ?? single ?? '');
    else if (mark === '*') put(isOperator ? 'operator' : 'name', mark);
    else if (mark !== undefined) put('mark', mark);
    else if (name !== undefined) {
      const isNamed = isOperator && operatorNames.includes(` ${name} `);
      if (isOperator && !isNamed) throw new SyntaxFault();
      put(isNamed ? 'operator' : 'name', name);
    } else if (end !== undefined) {
      put('end', '');
      return tokens;
    } else throw new SyntaxFault();
  }
}

export type Resolver = (prefix: string) => string | null;

export class Parser {
  readonly #tokens: readonly Token[];
  readonly #resolve: Resolver;
  #at = 0;

  constructor(text: string, resolve: Resolver) {
    this.#tokens = tokensOf(text);
    this.#resolve = resolve;
  }

  #token(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? { kind: 'end', text: '', at: 0, end: 0 };
  }
  #is(mark: string, ahead = 0): boolean {
    const token = this.#token(ahead);
    return (token.kind === 'mark' || token.kind === 'operator') && token.text === mark;
  }
  #take(mark: string): boolean {
    if (!this.#is(mark)) return false;
    this.#at++;
    return true;
  }
  #expect(mark: string): void {
    if (!this.#take(mark)) throw new SyntaxFault();
  }

  whole(): Expression {
    const expression = this.#binary(0);
    if (this.#token().kind !== 'end') throw new SyntaxFault();
    return expression;
  }

  #binary(level: number): Expression {
    const operators = levels[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = operators.find((each) => this.#is(each));
      if (operator === undefined) return left;
      this.#at++;
      left = binary(operator, left, this.#binary(level + 1));
    }
  }

  #unary(): Expression {
    let signs = 0;
    while (this.#take('-')) signs++;
    const value = this.#union();
    if (signs === 0) return value;
    const sign = signs % 2 === 0 ? 1 : -1;
    return {
      gives: 'number',
      isPlaced: value.isPlaced,
      evaluate: (context) => sign * asNumber(value.evaluate(context)),
    };
  }

  #union(): Expression {
    let left = this.#path();
    while (this.#take('|')) {
      const [first, second] = [left, this.#path()];
      left = {
        gives: 'nodes',
        isPlaced: first.isPlaced || second.isPlaced,
        evaluate: (context) => inOrder([...nodesOf(first, context), ...nodesOf(second, context)]),
      };
    }
    return left;
  }

  #path(): Expression {
    const token = this.#token();
    const isCall =
      token.kind === 'name' && this.#is('(', 1) && !/^(?:node|text|comment|processing-instruction)$/.test(token.text);
    const isPrimary = token.kind === 'number' || token.kind === 'text' || this.#is('(') || this.#is('$') || isCall;
    if (isPrimary) return this.#filtered();
    if (this.#take('//')) return pathOf('top', null, this.#steps([descend]));
    if (this.#take('/')) {
      const next = this.#token();
      const hasStep = next.kind === 'name' || this.#is('.') || this.#is('..') || this.#is('@');
      return pathOf('top', null, hasStep ? this.#steps([]) : []);
    }
    return pathOf('here', null, this.#steps([]));
  }

  #filtered(): Expression {
    const primary = this.#primary();
    const predicates = this.#predicates();
    const filtered: Expression =
      predicates.length === 0
        ? primary
        : {
            gives: 'nodes',
            isPlaced: primary.isPlaced,
            evaluate: (context) => filter(inOrder(nodesOf(primary, context)), predicates),
          };
    if (this.#take('//')) return pathOf('given', filtered, this.#steps([descend]));
    if (this.#take('/')) return pathOf('given', filtered, this.#steps([]));
    return filtered;
  }

  #primary(): Expression {
    const token = this.#token();
    if (this.#take('(')) {
      const inner = this.#binary(0);
      this.#expect(')');
      return inner;
    }
    this.#at++;
    if (token.kind === 'number') {
      const number = Number(token.text);
      return { gives: 'number', isPlaced: false, evaluate: () => number };
    }
    if (token.kind === 'text') return { gives: 'text', isPlaced: false, evaluate: () => token.text };
    if (token.kind !== 'name') throw new SyntaxFault();
    return this.#call(token.text);
  }

  #call(name: string): Expression {
    this.#expect('(');
    const args: Expression[] = [];
    if (!this.#is(')')) {
      do args.push(this.#binary(0));
      while (this.#take(','));
    }
    this.#expect(')');
    const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (found === undefined || args.length < found.least || args.length > found.most) throw new SyntaxFault();
    const evaluates = args.map((each) => (context: Context) => each.evaluate(context));
    const isPlaced = name === 'position' || name === 'last' || args.some((each) => each.isPlaced);
    return { gives: found.gives, isPlaced, evaluate: (context) => found.call(context, evaluates) };
  }

  #steps(steps: Step[]): Step[] {
    for (;;) {
      steps.push(this.#step());
      if (this.#take('//')) steps.push(descend);
      else if (!this.#take('/')) return steps;
    }
  }

  #step(): Step {
    if (this.#take('.')) return { axis: 'self', test: anyNode, predicates: [] };
    if (this.#take('..')) return { axis: 'parent', test: anyNode, predicates: [] };
    let axis = 'child';
    if (this.#take('@')) axis = 'attribute';
    else if (this.#token().kind === 'name' && this.#is('::', 1)) {
      axis = this.#token().text;
      if (!axes.includes(` ${axis} `)) throw new SyntaxFault();
      this.#at += 2;
    }
    const test = this.#test();
    return { axis, test, predicates: this.#predicates() };
  }

  #test(): NodeTest {
    const token = this.#token();
    if (token.kind !== 'name') throw new SyntaxFault();
    this.#at++;
    if (this.#take('(')) {
      const argument = this.#token().kind === 'text' ? this.#token().text : null;
      if (argument !== null) this.#at++;
      this.#expect(')');
      if (token.text === 'processing-instruction') return { kind: 'instruction', target: argument };
      if (argument !== null) throw new SyntaxFault();
      if (token.text !== 'node' && token.text !== 'text' && token.text !== 'comment') throw new SyntaxFault();
      return { kind: token.text };
    }
    const colon = token.text.indexOf(':');
    const namespace = colon < 0 ? null : this.#resolve(token.text.slice(0, colon));
    const local = token.text.slice(colon + 1);
    return { kind: 'name', local: local === '*' ? null : local, namespace };
  }

  #predicates(): Expression[] {
    const predicates: Expression[] = [];
    while (this.#take('[')) {
      predicates.push(this.#binary(0));
      this.#expect(']');
    }
    return predicates;
  }
}

const levels: readonly (readonly string[])[] = [
  ['or'],
  ['and'],
  ['=', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', 'div', 'mod'],
];
const anyNode: NodeTest = { kind: 'node' };
/** What `//` stands for. */
const descend: Step = { axis: 'descendant-or-self', test: anyNode, predicates: [] };

function nodesOf(expression: Expression, context: Context): Item[] {
  const value = expression.evaluate(context);
  if (typeof value !== 'object') throw new TypeError('The expression needs a set of nodes, and this is none.');
  return value;
}

function binary(operator: string, left: Expression, right: Expression): Expression {
  const isPlaced = left.isPlaced || right.isPlaced;
  const numbers = (count: (left: number, right: number) => number): Expression => ({
    gives: 'number',
    isPlaced,
    evaluate: (context) => count(asNumber(left.evaluate(context)), asNumber(right.evaluate(context))),
  });
  switch (operator) {
    case 'or':
      return {
        gives: 'boolean',
        isPlaced,
        evaluate: (context) => asBoolean(left.evaluate(context)) || asBoolean(right.evaluate(context)),
      };
    case 'and':
      return {
        gives: 'boolean',
        isPlaced,
        evaluate: (context) => asBoolean(left.evaluate(context)) && asBoolean(right.evaluate(context)),
      };
    case '+':
      return numbers((first, second) => first + second);
    case '-':
      return numbers((first, second) => first - second);
    case '*':
      return numbers((first, second) => first * second);
    case 'div':
      return numbers((first, second) => first / second);
    case 'mod':
      return numbers((first, second) => first % second);
    default:
      return {
        gives: 'boolean',
        isPlaced,
        evaluate: (context) => compareValues(operator, left.evaluate(context), right.evaluate(context)),
      };
  }
}

function filter(items: readonly Item[], predicates: readonly Expression[]): Item[] {
  let left = [...items];
  for (const predicate of predicates) {
    const size = left.length;
    left = left.filter((item, at) => {
      const value = predicate.evaluate({ item, position: at + 1, size });
      return typeof value === 'number' ? value === at + 1 : asBoolean(value);
    });
  }
  return left;
}

/** `//x` is one walk where no predicate counts the children of each parent. */
function shortened(steps: readonly Step[]): Step[] {
  const short: Step[] = [];
  for (const step of steps) {
    const isCounted = step.predicates.some((each) => each.isPlaced || each.gives === 'number');
    if (short.at(-1) === descend && step.axis === 'child' && !isCounted) {
      short[short.length - 1] = { ...step, axis: 'descendant' };
    } else short.push(step);
  }
  return short;
}

function pathOf(from: 'top' | 'here' | 'given', given: Expression | null, all: readonly Step[]): Expression {
  const steps = shortened(all);
  return {
    gives: 'nodes',
    isPlaced: given?.isPlaced ?? false,
    evaluate(context) {
      let items: Item[] = from === 'top' ? [topOf(context.item)] : [context.item];
      if (given !== null) items = inOrder(nodesOf(given, context));
      for (const { axis, test, predicates } of steps) {
        const found: Item[] = [];
        for (const item of items) {
          const step = along(axis, item, test);
          for (const each of predicates.length === 0 ? step : filter(step, predicates)) found.push(each);
        }
        items = items.length > 1 || reverseAxes.includes(` ${axis} `) ? inOrder(found) : found;
      }
      return items;
    },
  };
}
