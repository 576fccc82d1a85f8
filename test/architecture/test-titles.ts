/** The full titles of a spec's tests: the titles of the `describe`s around a test, then its own. */
import ts from 'typescript';

const testFunctions: ReadonlySet<string> = new Set(['describe', 'it', 'test']);

/** `it`, `it.each(rows)` and `it.each` with a table are all called by the name that they begin with. */
function calledName(expression: ts.Expression): string | undefined {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression)) {
    return calledName(expression.expression);
  }
  return ts.isTaggedTemplateExpression(expression) ? calledName(expression.tag) : undefined;
}

/** A title as it is written, with `name` where the spec puts in a name. */
function titleOf(argument: ts.Expression | undefined): string | undefined {
  if (argument === undefined) return undefined;
  if (ts.isStringLiteralLike(argument)) return argument.text;
  if (!ts.isTemplateExpression(argument)) return undefined;
  return [argument.head.text, ...argument.templateSpans.map((span) => `name${span.literal.text}`)].join('');
}

export interface TestTitle {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

export function testTitles(text: string): readonly TestTitle[] {
  const source = ts.createSourceFile('a.spec.ts', text, ts.ScriptTarget.Latest);
  const titles: TestTitle[] = [];
  const visit = (node: ts.Node, around: readonly string[]): void => {
    let within = around;
    if (ts.isCallExpression(node) && node.arguments.length > 1) {
      const name = calledName(node.expression);
      const title = titleOf(node.arguments[0]);
      if (name !== undefined && testFunctions.has(name) && title !== undefined) {
        within = [...around, title];
        const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
        if (name !== 'describe') titles.push({ text: within.join(' '), line });
      }
    }
    ts.forEachChild(node, (child) => visit(child, within));
  };
  visit(source, []);
  return titles;
}

const withoutSubject = /^(is|are|was|has|have|does|do|can|may|must|that|which|by|of|in|with|without|where|when)\b/i;

/** Whether a title can be read without its file: a subject first, and words enough for a sentence. */
export function readsAlone(title: string): boolean {
  const words = title.split(/[\s›]+/).filter((word) => /[\p{L}\p{N}%$]/u.test(word));
  return words.length >= 4 && /^\p{L}/u.test(title) && !withoutSubject.test(title);
}
