/** YAML as another way to write JSON: what JSON cannot say (anchors, tags, several documents) is refused by name. */
import { CST, isAlias, isNode, isScalar, Lexer, parseAllDocuments, stringify, visit, type Document } from 'yaml';
import { reject, type AppError } from '#runtime/errors';
import type { Json } from '#runtime/json';
import { checkJsonBody } from './json-body.js';

function malformed(reason: string, message: string, place?: { readonly line: number; readonly col: number }): AppError {
  if (place === undefined) return reject(reason, message);
  const { line, col: column } = place;
  return reject(reason, `${message} (line ${line}, column ${column})`, [
    { field: 'body', rule: reason, message, line, column },
  ]);
}

/** The reader holds up everything else meanwhile: 1,500 tasks in 340 KB are 112,500 tokens, and took it 100 to 180 ms. */
const mostTokens = 150_000;
const deepest = 64;

/** Ends with what can be seen in the tokens alone, before the reader takes time and memory for it. */
function checkTokens(text: string): void {
  let [count, depth, isText] = [0, 0, false];
  for (const token of new Lexer().lex(text)) {
    count += 1;
    if (count > mostTokens) throw reject('too_many_values', 'The body holds more than can be taken at once.');
    if (isText) {
      // The text of a value, whatever it looks like.
      isText = false;
      continue;
    }
    if (token === CST.SCALAR) isText = true;
    else if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    else if (/^[&*]/.test(token)) {
      throw malformed('yaml_anchor', 'Anchors and aliases are not taken: write out what they stand for.');
    }
    if (depth > deepest) throw malformed('too_deep', 'The body is nested too deeply.');
  }
}

/** The reader compares each name with each other: that is left to a set. */
function repeatedName(document: Document.Parsed): string | null {
  let repeated: string | null = null;
  visit(document, {
    Map(_key, map) {
      const names = new Set<string>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : String(key);
        if (names.has(name)) repeated = name;
        names.add(name);
      }
      return repeated === null ? undefined : visit.BREAK;
    },
  });
  return repeated;
}

/** The reader's own words, without the place and the lines that follow. */
function whyNot({ message }: Error): string {
  const [first = ''] = message.split('\n', 1);
  return first.replace(/ at line \d+, column \d+:?$/, '').slice(0, 200);
}

function firstFault(document: Document.Parsed): AppError | null {
  const [error] = document.errors;
  if (error !== undefined) {
    const place = error.linePos?.[0];
    if (error.code === 'MULTIPLE_DOCS')
      return malformed('several_documents', 'There is more than one document.', place);
    if (error.code === 'RESOURCE_EXHAUSTION') return malformed('too_deep', 'The body is nested too deeply.', place);
    return malformed('malformed_yaml', `The body is not YAML: ${whyNot(error)}`, place);
  }
  // Of tags that it does not know the reader only warns; one that it knows makes what JSON has not.
  if (document.warnings.length > 0)
    return malformed('yaml_tag', 'Tags are not taken.', document.warnings[0]?.linePos?.[0]);
  const repeated = repeatedName(document);
  if (repeated !== null) {
    const message = 'is given twice in one object';
    return reject('duplicate_field', `${repeated.slice(0, 100)} ${message}.`, [
      { field: repeated.slice(0, 100), rule: 'duplicate', message },
    ]);
  }
  let fault: AppError | null = null;
  visit(document, (_key, node) => {
    if (isAlias(node) || (isNode(node) && 'anchor' in node && node.anchor !== undefined)) {
      fault = malformed('yaml_anchor', 'Anchors and aliases are not taken: write out what they stand for.');
    } else if (isNode(node) && node.tag?.endsWith(':binary') === true) {
      fault = malformed('yaml_tag', 'Tags are not taken.');
    }
    return fault === null ? undefined : visit.BREAK;
  });
  return fault;
}

function valueOf(text: string): Json | undefined {
  if (/^%/m.test(text)) throw malformed('yaml_tag', 'Directives are not taken.');
  checkTokens(text);
  // Version 1.2 alone: `yes` is a text, and a merge key is a key like any other.
  const documents = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    logLevel: 'silent',
  });
  if (!Array.isArray(documents)) return undefined;
  const [document, second] = documents as readonly Document.Parsed[];
  if (document === undefined) return undefined;
  const fault = firstFault(document);
  if (fault !== null) throw fault;
  if (second !== undefined) throw malformed('several_documents', 'There is more than one document.');
  return document.toJS({ maxAliasCount: 0 }) as Json;
}

/**
 * The JSON that the text stands for; undefined where it is empty. Throws `malformed_yaml`, `duplicate_field`, `yaml_anchor`,
 * `yaml_tag`, `several_documents`, `too_deep`, and what JSON is refused for.
 */
export function parseYamlBody(bytes: Uint8Array): Json | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw malformed('malformed_yaml', 'The body is not UTF-8.');
  }
  if (text.trim() === '') return undefined;
  try {
    const value = valueOf(text);
    if (value !== undefined) checkJsonBody(value);
    return value;
  } catch (error) {
    // The reader goes down as deep as the text does.
    if (error instanceof RangeError) throw reject('too_deep', 'The body is nested too deeply.');
    throw error;
  }
}

/** Long texts as blocks, nothing folded: what was written comes back to the byte. */
export function toYaml(value: Json): string {
  return stringify(value, { version: '1.2', schema: 'core', lineWidth: 0, aliasDuplicateObjects: false });
}
