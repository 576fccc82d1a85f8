/**
 * A foreign page as a document to look through: nothing of it runs, loads or is styled, so that the policy of this page has nothing to
 * refuse. Places stay as they are: what was taken out of the body leaves an empty element behind.
 */

const ofHead = new Set(['title', 'meta', 'link', 'base', 'style', 'script', 'template', 'noscript']);
const acting = 'style, script, template, noscript, iframe, object, embed, frame';

/** Of the attributes of a page's `body`, those that selectors go by. */
function bodyAttributesOf(html: string, page: Document): Element {
  const template = page.createElement('template');
  template.innerHTML = `<div${/<body((?:\s[^>]*)?)>/i.exec(html)?.[1] ?? ''}></div>`;
  return template.content.firstElementChild ?? page.createElement('div');
}

/** Chromium refuses, and reports, what acts by attribute while it parses, in a document that is shown nowhere too: it gets another name. */
const withoutActs = (html: string): string =>
  html.replaceAll(/<[a-z][^>]*>/gi, (tag) =>
    tag.replaceAll(/([\s"'/])(on[a-z]+|style|srcdoc)(?=\s*=)/gi, '$1data-inert-$2'),
  );

export function inertPageOf(source: string): Document {
  const html = withoutActs(source);
  const page = document.implementation.createHTMLDocument('');
  const template = page.createElement('template');
  template.innerHTML = html;
  const { content } = template;
  for (let node = content.firstChild; node !== null; node = content.firstChild) {
    const isBlank = node.nodeType !== Node.ELEMENT_NODE && (node.nodeValue ?? '').trim() === '';
    if (!isBlank && !(node instanceof Element && ofHead.has(node.localName)) && node.nodeType !== Node.COMMENT_NODE)
      break;
    node.remove();
  }
  for (const element of content.querySelectorAll(acting)) element.replaceChildren();
  for (const element of content.querySelectorAll('*')) {
    for (const name of element.getAttributeNames()) {
      if (name === 'style' || name.startsWith('on') || name === 'srcdoc') element.removeAttribute(name);
    }
  }
  const { id, className } = bodyAttributesOf(html, page);
  if (id !== '') page.body.id = id;
  if (className !== '') page.body.className = className;
  // What would load once it stands in a document is asked for by its attributes alone.
  for (const element of content.querySelectorAll('[src], [srcset], [href], [data], [poster], [background]')) {
    for (const name of ['src', 'srcset', 'data', 'poster', 'background']) element.removeAttribute(name);
  }
  page.body.append(page.adoptNode(content));
  return page;
}
