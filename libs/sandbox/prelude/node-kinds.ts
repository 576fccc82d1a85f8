/** The classes of nodes other than elements and documents. */
import { domError } from './dom-exception.js';
import { documentOf, setOwner } from './documents.js';
import { byId } from './queries.js';
import { nameText } from './name-table.js';
import {
  commentKind,
  createNode,
  dataOf,
  doctypeParts,
  fragmentKind,
  insertNode,
  isTextual,
  kind,
  nextSibling,
  parentOf,
  previousSibling,
  replaceData,
  setData,
  tagOf,
  notifySplit,
  textKind,
} from './tree.js';
import { nextElement, previousElement } from './tree-walks.js';
import { adopt, wrap } from './wrappers.js';
import { parentMembers, childMembers, mixIn } from './parent-members.js';
import { illegal, Node, makeNode } from './nodes.js';

/** An offset within a text of this length. */
function offsetIn(length: number, offset: unknown): number {
  const at = Number(offset) >>> 0;
  if (at > length) throw domError('IndexSizeError', `The offset ${at} is larger than the node's length (${length}).`);
  return at;
}

export class CharacterData extends Node {
  get data(): string {
    return dataOf(Node.numberOf(this));
  }
  set data(value: unknown) {
    setData(Node.numberOf(this), value === null ? '' : String(value));
  }
  get length(): number {
    return this.data.length;
  }
  substringData(offset: unknown, count: unknown): string {
    const from = offsetIn(this.length, offset);
    return this.data.slice(from, from + (Number(count) >>> 0));
  }
  appendData(text: unknown): void {
    this.replaceData(this.length, 0, text);
  }
  deleteData(offset: unknown, count: unknown): void {
    this.replaceData(offset, count, '');
  }
  insertData(offset: unknown, text: unknown): void {
    this.replaceData(offset, 0, text);
  }
  replaceData(offset: unknown, count: unknown, text: unknown): void {
    replaceData(Node.numberOf(this), offsetIn(this.length, offset), Number(count) >>> 0, String(text));
  }
  get nextElementSibling(): object | null {
    return wrap(nextElement(Node.numberOf(this)));
  }
  get previousElementSibling(): object | null {
    return wrap(previousElement(Node.numberOf(this)));
  }
}
mixIn(CharacterData.prototype, childMembers);

export class Text extends CharacterData {
  constructor(data?: unknown) {
    makeNode(textKind, data);
    super();
    adopt(Node.numberOf(this), this);
  }
  get wholeText(): string {
    let node = Node.numberOf(this);
    for (let up = previousSibling(node); up >= 0 && isTextual(kind(up)); up = previousSibling(node)) node = up;
    let text = '';
    for (; node >= 0 && isTextual(kind(node)); node = nextSibling(node)) text += dataOf(node);
    return text;
  }
  splitText(offset: unknown): object | null {
    const from = offsetIn(this.length, offset);
    const node = Node.numberOf(this);
    const rest = createNode(textKind, 0, this.data.slice(from));
    setOwner(rest, documentOf(node));
    const parent = parentOf(node);
    if (parent >= 0) {
      insertNode(parent, rest, nextSibling(node));
      notifySplit(node, from, rest);
    }
    replaceData(node, from, this.length, '');
    return wrap(rest);
  }
}

export class CDATASection extends Text {
  constructor() {
    illegal();
    super();
  }
}

export class ProcessingInstruction extends CharacterData {
  get target(): string {
    return nameText(tagOf(Node.numberOf(this)));
  }
}

export class Comment extends CharacterData {
  constructor(data?: unknown) {
    makeNode(commentKind, data);
    super();
    adopt(Node.numberOf(this), this);
  }
}

export class DocumentType extends Node {
  get name(): string {
    return doctypeParts(Node.numberOf(this))[0];
  }
  get publicId(): string {
    return doctypeParts(Node.numberOf(this))[1];
  }
  get systemId(): string {
    return doctypeParts(Node.numberOf(this))[2];
  }
}
mixIn(DocumentType.prototype, childMembers);

export class DocumentFragment extends Node {
  constructor() {
    makeNode(fragmentKind, '');
    super();
    adopt(Node.numberOf(this), this);
  }
  getElementById(id: unknown): object | null {
    return wrap(byId(Node.numberOf(this), String(id)));
  }
}
mixIn(DocumentFragment.prototype, parentMembers);
