/**
 * The page parser over parse5: an adapter keeps the tree as integers in columns that every page reuses, and
 * one walk over them writes the flat tables.
 */
import { parse, parseFragment } from 'parse5';
import type { TreeAdapter, TreeAdapterTypeMap } from 'parse5';
import { CpuDeadline } from '../guest/deadline.js';
import { namelessAttribute, rowKinds, treeModes } from './flat-page.js';
import type { FlatPage } from './flat-page.js';
import { asPreformatted, decodeBody, PageTooComplex } from './page-parser.js';
import type { PageLimits, PageParser } from './page-parser.js';
import { parseXmlDocument } from './xml-page-parser.js';
import {
  svgNamespace,
  mathNamespace,
  noAttributes,
  columns,
  refuseDepth,
  appendChild,
  insertBefore,
  detach,
} from './parse5-columns.js';
import { RowIndex, rowTables } from './row-index.js';
import { packTables } from './pack-tables.js';

type TreeMap = TreeAdapterTypeMap<number, number, number, number, number, number, number, number, number, number>;

function elementName(tagName: string, namespace: string): string {
  if (namespace === svgNamespace) return `svg ${tagName}`;
  if (namespace === mathNamespace) return `math ${tagName}`;
  return tagName;
}

function treeAdapter(limits: PageLimits): TreeAdapter<TreeMap> {
  const deadline = new CpuDeadline();
  deadline.start(limits.parseMs);
  const isKind = (node: number, kind: number): boolean => columns.kind[node] === kind;
  const orNull = (node: number | undefined): number | null => (node === undefined || node === 0 ? null : node);
  return {
    createDocument: () => columns.add(rowKinds.document, 0, '', noAttributes, ''),
    createDocumentFragment: () => columns.add(rowKinds.fragment, 0, '', noAttributes, ''),
    createElement: (tagName, namespace, attributes) => {
      columns.elements += 1;
      if (columns.elements > limits.elements) {
        throw new PageTooComplex(`has more than ${limits.elements} elements`);
      }
      if ((columns.elements & 1023) === 0 && deadline.check()) {
        throw new PageTooComplex(`takes more than ${limits.parseMs} ms to parse`);
      }
      const name = columns.nameOf(elementName(tagName, namespace));
      return columns.add(rowKinds.element, name, tagName, attributes, namespace);
    },
    createCommentNode: (data) => columns.add(rowKinds.comment, 0, data, noAttributes, ''),
    createTextNode: (data) => columns.add(rowKinds.text, 0, data, noAttributes, ''),
    appendChild: (parent, node) => appendChild(parent, node, limits),
    insertBefore: (parent, node, reference) => insertBefore(parent, node, reference, limits),
    setTemplateContent: (template, content) => void columns.templates.set(template, content),
    getTemplateContent: (template) => columns.templates.get(template) ?? 0,
    setDocumentType: (document, name, publicId, systemId) => {
      const attributes = [name, publicId, systemId].map((value) => ({ name: '', value }));
      appendChild(document, columns.add(rowKinds.doctype, 0, name, attributes, ''), limits);
    },
    setDocumentMode: (_document, mode) => {
      columns.isQuirks = mode === 'quirks';
    },
    getDocumentMode: () => (columns.isQuirks ? 'quirks' : 'no-quirks') as ReturnType<TreeAdapter['getDocumentMode']>,
    detachNode: detach,
    insertText: (parent, text) => {
      const last = columns.last[parent] ?? 0;
      if (last !== 0 && isKind(last, rowKinds.text)) columns.data[last] += text;
      else appendChild(parent, columns.add(rowKinds.text, 0, text, noAttributes, ''), limits);
    },
    insertTextBefore: (parent, text, reference) => {
      const previous = columns.previous[reference] ?? 0;
      if (previous !== 0 && isKind(previous, rowKinds.text)) columns.data[previous] += text;
      else insertBefore(parent, columns.add(rowKinds.text, 0, text, noAttributes, ''), reference, limits);
    },
    adoptAttributes: (recipient, attributes) => {
      const own = columns.attributes[recipient] ?? [];
      const names = new Set(own.map((attribute) => attribute.name));
      own.push(...attributes.filter((attribute) => !names.has(attribute.name)));
    },
    getFirstChild: (node) => orNull(columns.first[node]),
    getChildNodes: (node) => {
      const children: number[] = [];
      for (let child = columns.first[node] ?? 0; child !== 0; child = columns.next[child] ?? 0) children.push(child);
      return children;
    },
    getParentNode: (node) => orNull(columns.parent[node]),
    getAttrList: (node) => columns.attributes[node] ?? [],
    getTagName: (node) => columns.data[node] ?? '',
    getNamespaceURI: (node) => (columns.namespaces[node] ?? '') as ReturnType<TreeAdapter['getNamespaceURI']>,
    getTextNodeContent: (node) => columns.data[node] ?? '',
    getCommentNodeContent: (node) => columns.data[node] ?? '',
    getDocumentTypeNodeName: (node) => columns.attributes[node]?.[0]?.value ?? '',
    getDocumentTypeNodePublicId: (node) => columns.attributes[node]?.[1]?.value ?? '',
    getDocumentTypeNodeSystemId: (node) => columns.attributes[node]?.[2]?.value ?? '',
    isTextNode: (node): node is number => isKind(node, rowKinds.text),
    isCommentNode: (node): node is number => isKind(node, rowKinds.comment),
    isDocumentTypeNode: (node): node is number => isKind(node, rowKinds.doctype),
    isElementNode: (node): node is number => isKind(node, rowKinds.element),
    getNodeSourceCodeLocation: () => null,
    setNodeSourceCodeLocation: () => undefined,
    updateNodeSourceCodeLocation: () => undefined,
  };
}

const whiteSpace = /[\t\n\f\r ]+/;

function indexClasses(classes: RowIndex, value: string, row: number): void {
  if (!whiteSpace.test(value)) {
    if (value !== '') classes.add(value, row);
    return;
  }
  for (const token of value.split(whiteSpace)) if (token !== '') classes.add(token, row);
}

/** One walk in document order, template contents after the document. */
function flatten(document: number, limits: PageLimits): FlatPage {
  const { kind, name, parent, first, next, data, attributes, templates } = columns;
  const capacity = columns.count;
  const kindAt = new Int32Array(capacity);
  const parentAt = new Int32Array(capacity);
  const endAt = new Int32Array(capacity);
  const textAt = new Int32Array(capacity + 1);
  const attributeAt = new Int32Array(capacity + 1);
  const attributeNames: number[] = [];
  const valueOffsets: number[] = [0];
  const classes = new RowIndex();
  const ids = new RowIndex();
  const templatePairs: number[] = [];
  const waiting: number[] = [];
  const nameRows: number[][] = [];
  let text = '';
  let values = '';
  let valuesLength = 0;
  let textLength = 0;
  let row = 0;

  const walk = (root: number, rootParent: number): void => {
    let node = root;
    let up = rootParent;
    let depth = 0;
    for (;;) {
      const at = row++;
      const what = kind[node] ?? 0;
      parentAt[at] = up;
      textAt[at] = textLength;
      attributeAt[at] = attributeNames.length;
      if (what === rowKinds.element) {
        const nameId = name[node] ?? 0;
        kindAt[at] = (what << 24) | nameId;
        (nameRows[nameId] ??= []).push(at);
        const list = attributes[node] ?? noAttributes;
        for (let each = 0; each < list.length; each++) {
          const attribute = list[each];
          if (attribute === undefined) continue;
          const { value } = attribute;
          const prefix = attribute.prefix;
          const attributeName = prefix === undefined || prefix === '' ? attribute.name : `${prefix}:${attribute.name}`;
          attributeNames.push(columns.nameOf(attributeName));
          values += value;
          valuesLength += value.length;
          valueOffsets.push(valuesLength);
          if (attributeName === 'class') indexClasses(classes, value, at);
          else if (attributeName === 'id' && value !== '') ids.add(value, at);
        }
        const content = templates.get(node);
        if (content !== undefined) {
          templatePairs.push(at, 0);
          waiting.push(content);
        }
      } else {
        kindAt[at] = what << 24;
        if (what === rowKinds.text) {
          const content = data[node] ?? '';
          text += content;
          textLength += content.length;
        } else if (what === rowKinds.comment || what === rowKinds.doctype) {
          const parts = what === rowKinds.comment ? [data[node] ?? ''] : (attributes[node] ?? []).map((a) => a.value);
          for (const part of parts) {
            attributeNames.push(namelessAttribute);
            values += part;
            valuesLength += part.length;
            valueOffsets.push(valuesLength);
          }
        }
      }
      const firstChild = first[node] ?? 0;
      if (firstChild !== 0) {
        depth += 1;
        if (depth > limits.depth) refuseDepth(limits);
        up = at;
        node = firstChild;
        continue;
      }
      endAt[at] = row;
      for (;;) {
        if (node === root) return;
        const following = next[node] ?? 0;
        if (following !== 0) {
          node = following;
          break;
        }
        node = parent[node] ?? 0;
        depth -= 1;
        endAt[up] = row;
        up = parentAt[up] ?? -1;
      }
    }
  };

  walk(document, -1);
  for (let each = 0; each < waiting.length; each++) {
    templatePairs[each * 2 + 1] = row;
    walk(waiting[each] ?? 0, -1);
  }
  textAt[row] = textLength;
  attributeAt[row] = attributeNames.length;

  const tables = packTables({
    mode: columns.isQuirks ? treeModes.quirks : treeModes.standards,
    kinds: kindAt.subarray(0, row),
    parents: parentAt.subarray(0, row),
    ends: endAt.subarray(0, row),
    texts: textAt.subarray(0, row + 1),
    firstAttributes: attributeAt.subarray(0, row + 1),
    attributeNames,
    valueOffsets,
    tags: rowTables(nameRows, columns.names.size),
    classes: classes.tables(),
    ids: ids.tables(),
    templatePairs,
  });
  const names = [...columns.names.keys()].join('\0');
  return { tables, text, values, names, classes: classes.keys(), ids: ids.keys() };
}

const namespaceUris = { html: 'http://www.w3.org/1999/xhtml', svg: svgNamespace, math: mathNamespace } as const;

/** The tree that `build` makes, as tables; the columns are free again afterwards. */
function flattened(limits: PageLimits, build: (treeAdapter: TreeAdapter<TreeMap>) => number): FlatPage {
  columns.reset();
  try {
    return flatten(build(treeAdapter(limits)), limits);
  } finally {
    columns.reset();
  }
}

export const parse5PageParser: PageParser = {
  parsePage(body, kind, limits) {
    const text = decodeBody(body);
    if (kind === 'xml') return { text, flat: parseXmlDocument(text, limits) };
    const markup = kind === 'html' ? text : asPreformatted(text);
    return { text, flat: flattened(limits, (treeAdapter) => parse(markup, { treeAdapter })) };
  },

  parseMarkup(markup, context, limits) {
    return flattened(limits, (treeAdapter) => {
      // Scripts of a document that code made do not run.
      if (context === null) return parse(markup, { treeAdapter, scriptingEnabled: false });
      const { tag, namespace } = context;
      const uri = namespaceUris[namespace] as Parameters<typeof treeAdapter.createElement>[1];
      return parseFragment(treeAdapter.createElement(tag, uri, []), markup, { treeAdapter });
    });
  },
};
