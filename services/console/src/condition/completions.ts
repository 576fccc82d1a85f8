/** What the code of a task finds around it, for completion: names with their types and what they are. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';

const pageMembers: readonly Completion[] = [
  {
    label: 'number',
    type: 'method',
    detail: '(textOrElement, locale?)',
    info: 'The first number in it. Ends the run where there is none.',
  },
  {
    label: 'report',
    type: 'method',
    detail: '(name, value)',
    info: 'Records a value; the one named value is the value of the task.',
  },
  {
    label: 'previous',
    type: 'property',
    detail: '{ outcome, values, text, at } | null',
    info: 'What the run before found.',
  },
  { label: 'state', type: 'property', detail: 'object', info: 'Kept between runs, at most 16 KiB of JSON.' },
  { label: 'status', type: 'property', detail: 'number', info: 'The HTTP status.' },
  { label: 'headers', type: 'property', detail: 'object', info: 'By lower-case name.' },
  { label: 'text', type: 'property', detail: 'string', info: 'The decoded body.' },
  { label: 'json', type: 'method', detail: '()', info: 'The body as JSON.' },
  { label: 'url', type: 'property', detail: 'string', info: 'The address of the task.' },
  { label: 'finalUrl', type: 'property', detail: 'string', info: 'Where redirects ended.' },
  { label: 'certificate', type: 'property', detail: '{ validTo, daysLeft, … } | null', info: 'Of https.' },
  {
    label: 'visible',
    type: 'method',
    detail: '(selector)',
    info: 'Whether it was shown, where a browser rendered the page.',
  },
];

const documentMembers: readonly Completion[] = [
  { label: 'querySelector', type: 'method', detail: '(selector)', info: 'The first element that matches, or null.' },
  { label: 'querySelectorAll', type: 'method', detail: '(selector)', info: 'All elements that match.' },
  { label: 'getElementById', type: 'method', detail: '(id)' },
  { label: 'title', type: 'property', detail: 'string' },
  { label: 'body', type: 'property', detail: 'element' },
];

const elementMembers: readonly Completion[] = [
  { label: 'textContent', type: 'property', detail: 'string' },
  { label: 'getAttribute', type: 'method', detail: '(name)' },
  { label: 'querySelector', type: 'method', detail: '(selector)' },
  { label: 'innerHTML', type: 'property', detail: 'string' },
  { label: 'children', type: 'property', detail: 'elements' },
  { label: 'length', type: 'property', detail: 'number' },
];

const globals: readonly Completion[] = [
  { label: 'document', type: 'variable', detail: 'the page' },
  { label: 'page', type: 'variable', detail: 'the answer and what surrounds the run' },
  { label: 'console', type: 'variable', detail: 'logs into the run' },
  { label: 'location', type: 'variable', detail: 'the final address' },
];

/** After `page.` and `document.` their members, after any other dot those of an element, else the names in scope. */
export function completeTaskCode(context: CompletionContext): CompletionResult | null {
  const member = context.matchBefore(/[\w)\]]+\??\.\w*$/);
  if (member !== null) {
    const from = member.from + member.text.lastIndexOf('.') + 1;
    const owner = member.text.slice(0, member.text.lastIndexOf('.')).replace(/\?$/, '');
    const options = owner === 'page' ? pageMembers : owner === 'document' ? documentMembers : elementMembers;
    return { from, options: [...options], validFor: /^\w*$/ };
  }
  const word = context.matchBefore(/\w+$/);
  return word === null && !context.explicit
    ? null
    : { from: word?.from ?? context.pos, options: [...globals], validFor: /^\w*$/ };
}
