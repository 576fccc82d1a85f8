/** The markup parser inside the sandbox: the same parse5, where the image holds it, building nodes of the tree. */
import { provideParser } from './parse-markup.js';
import {
  childNodesOf,
  commentKind,
  createNode,
  dataOf,
  detachNode,
  doctypeKind,
  doctypeParts,
  documentKind,
  elementKind,
  firstChild,
  fragmentKind,
  getAttribute,
  insertNode,
  internName,
  kind,
  lastChild,
  nameText,
  parentOf,
  previousSibling,
  setAttribute,
  setData,
  setTemplateContent,
  tagOf,
  templateContent,
  textKind,
} from './tree.js';

interface ParsedAttribute {
  readonly name: string;
  readonly value: string;
  readonly prefix?: string;
}

interface Parser {
  parse(markup: string, options: { treeAdapter: object }): number;
  parseFragment(context: number, markup: string, options: { treeAdapter: object }): number;
}

const svgNamespace = 'http://www.w3.org/2000/svg';
const mathNamespace = 'http://www.w3.org/1998/Math/MathML';
const htmlNamespace = 'http://www.w3.org/1999/xhtml';

function nameOf(tagName: string, namespace: string): number {
  if (namespace === svgNamespace) return internName(`svg ${tagName}`);
  return internName(namespace === mathNamespace ? `math ${tagName}` : tagName);
}

function appendText(parent: number, text: string, before: number): void {
  const beside = before < 0 ? lastChild(parent) : previousSibling(before);
  if (beside >= 0 && kind(beside) === textKind) setData(beside, dataOf(beside) + text);
  else insertNode(parent, createNode(textKind, 0, text), before);
}

function writtenName(attribute: ParsedAttribute): string {
  const { name, prefix = '' } = attribute;
  return prefix === '' ? name : `${prefix}:${name}`;
}

function attributesTo(node: number, attributes: readonly ParsedAttribute[]): void {
  for (const attribute of attributes) {
    const name = writtenName(attribute);
    if (getAttribute(node, name) === null) setAttribute(node, name, attribute.value);
  }
}

function foreignPart(node: number): [string, string] {
  const name = nameText(tagOf(node));
  if (name.startsWith('svg ')) return [svgNamespace, name.slice(4)];
  return name.startsWith('math ') ? [mathNamespace, name.slice(5)] : [htmlNamespace, name];
}

const orNull = (node: number): number | null => (node < 0 ? null : node);

const treeAdapter = {
  createDocument: () => createNode(documentKind, 0, ''),
  createDocumentFragment: () => createNode(fragmentKind, 0, ''),
  createElement: (tagName: string, namespace: string, attributes: readonly ParsedAttribute[]) => {
    const node = createNode(elementKind, nameOf(tagName, namespace), '');
    attributesTo(node, attributes);
    return node;
  },
  createCommentNode: (data: string) => createNode(commentKind, 0, data),
  createTextNode: (data: string) => createNode(textKind, 0, data),
  appendChild: (parent: number, node: number) => insertNode(parent, node, -1),
  insertBefore: (parent: number, node: number, reference: number) => insertNode(parent, node, reference),
  setTemplateContent: (template: number, content: number) => setTemplateContent(template, content),
  getTemplateContent: (template: number) => templateContent(template),
  setDocumentType: (document: number, name: string, publicId: string, systemId: string) =>
    insertNode(document, createNode(doctypeKind, 0, `${name}\0${publicId}\0${systemId}`), -1),
  setDocumentMode: () => undefined,
  getDocumentMode: () => 'no-quirks',
  detachNode: (node: number) => detachNode(node),
  insertText: (parent: number, text: string) => appendText(parent, text, -1),
  insertTextBefore: (parent: number, text: string, reference: number) => appendText(parent, text, reference),
  adoptAttributes: attributesTo,
  getFirstChild: (node: number) => orNull(firstChild(node)),
  getChildNodes: (node: number) => childNodesOf(node),
  getParentNode: (node: number) => orNull(parentOf(node)),
  getAttrList: (): ParsedAttribute[] => [],
  getTagName: (node: number) => foreignPart(node)[1],
  getNamespaceURI: (node: number) => foreignPart(node)[0],
  getTextNodeContent: (node: number) => dataOf(node),
  getCommentNodeContent: (node: number) => dataOf(node),
  getDocumentTypeNodeName: (node: number) => doctypeParts(node)[0],
  getDocumentTypeNodePublicId: (node: number) => doctypeParts(node)[1],
  getDocumentTypeNodeSystemId: (node: number) => doctypeParts(node)[2],
  isTextNode: (node: number) => kind(node) === textKind,
  isCommentNode: (node: number) => kind(node) === commentKind,
  isDocumentTypeNode: (node: number) => kind(node) === doctypeKind,
  isElementNode: (node: number) => kind(node) === elementKind,
  getNodeSourceCodeLocation: () => null,
  setNodeSourceCodeLocation: () => undefined,
  updateNodeSourceCodeLocation: () => undefined,
};

/** Takes the parser from where the host has put it, before any user code runs. */
export function installParser(): void {
  const holder = globalThis as { guestMarkupParser?: Parser };
  const parser = holder.guestMarkupParser;
  delete holder.guestMarkupParser;
  if (parser === undefined) return;
  provideParser({
    parseDocument: (markup) => parser.parse(markup, { treeAdapter }),
    parseFragment: (markup, contextTag, contextNamespace) =>
      parser.parseFragment(treeAdapter.createElement(contextTag, contextNamespace, []), markup, { treeAdapter }),
  });
}
