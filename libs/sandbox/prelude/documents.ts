/** Documents other than the page's own: their facts, and the owner document of nodes outside any tree. */
import { NodeMap } from './node-map.js';
import { detachNode, documentKind, isXml, kind } from './tree.js';
import { rootOf } from './tree-walks.js';

export interface DocumentFacts {
  readonly isXml: boolean;
  readonly contentType: string;
  /** Of no address of its own: made from nothing, not parsed. */
  readonly isBlank?: boolean;
  readonly isQuirks?: boolean;
}

const ofPage: DocumentFacts[] = [
  { isXml: false, contentType: 'text/html' },
  { isXml: true, contentType: 'application/xml' },
];
const others = new NodeMap<DocumentFacts>();
/** By the root of a tree without a document. */
const owners = new NodeMap<number>();

/** What the page was served as. */
export const pageFacts = { contentType: '' };

export function addDocument(document: number, facts: DocumentFacts): void {
  others.set(document, facts);
}

export function factsOf(document: number): DocumentFacts {
  const facts = others.isUsed ? others.get(document) : undefined;
  return facts ?? (ofPage[isXml() && document === 0 ? 1 : 0] as DocumentFacts);
}

export function documentOf(node: number): number {
  const root = rootOf(node);
  if (kind(root) === documentKind) return root;
  return owners.isUsed ? (owners.get(root) ?? 0) : 0;
}

/** For a root that a document has made or taken. */
export function setOwner(root: number, document: number): void {
  if (document !== 0 || owners.isUsed) owners.set(root, document);
}

/** Whether a node belongs to a document of XML, where names are as they are written. */
export function isXmlNode(node: number): boolean {
  if (!others.isUsed) return isXml();
  return factsOf(documentOf(node)).isXml;
}

/** Takes a node out of its tree; it still belongs to its document. */
export function takeOut(node: number): void {
  if (!others.isUsed) return detachNode(node);
  const document = documentOf(node);
  detachNode(node);
  setOwner(node, document);
}
