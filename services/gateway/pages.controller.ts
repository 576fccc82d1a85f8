/** The few pages that people see: what this is, the setup form, the reader of the API document. All files are our own. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Controller, Inject } from '@nestjs/common';
import { organizationsView } from '#contracts/account';
import { text, type Answer } from '#http/envelope';
import { openApiDocument } from '#http/openapi';
import { RouteTable } from '#http/route-table';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { docsPage, docsScript, frontPage, frontText } from './pages.js';

/** Nothing from elsewhere, no inline script; no page may be framed or post elsewhere. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/** The reader's components carry their own style elements. */
const docsPolicy = contentSecurityPolicy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

const html = 'text/html; charset=utf-8';
const javascript = 'text/javascript; charset=utf-8';
const folder = new URL('./pages/', import.meta.url);

/** A page of ours is public, small and not part of the API document. */
function page(path: string, contentType: string) {
  return route({
    method: 'GET',
    path,
    operationId: `page${path.replaceAll(/\W/g, '_')}`,
    summary: path,
    tag: 'Pages',
    access: 'public',
    hidden: true,
    answers: [{ status: 200, description: 'The file.', envelope: 'none', contentType }],
  });
}

const front = page('/', html);
const docs = page('/docs', html);
const docsStart = page('/docs/start.js', javascript);
const docsReader = page('/docs/reader.js', javascript);
const setup = page('/setup', html);
const setupScript = page('/setup.js', javascript);
const style = page('/style.css', 'text/css; charset=utf-8');
const document = route({
  method: 'GET',
  path: '/api/openapi.json',
  operationId: 'getOpenApiDocument',
  summary: 'This document',
  tag: 'Operations',
  access: 'public',
  answers: [
    {
      status: 200,
      description: 'OpenAPI 3.1, without an envelope.',
      envelope: 'none',
      contentType: 'application/json',
    },
  ],
});

/** Files are read once: they do not change while the process runs. */
const files = new Map<string, string>();

function fileOf(location: URL): string {
  const known = files.get(location.href);
  if (known !== undefined) return known;
  if (!existsSync(location)) throw new AppError('NOT_FOUND', 'unknown_path', 'There is nothing at this path.');
  const content = readFileSync(location, 'utf8');
  files.set(location.href, content);
  return content;
}

function readerScript(): URL {
  const entry = createRequire(import.meta.url).resolve('openapi-explorer/package.json');
  return new URL(`file://${entry.replace(/package\.json$/, 'dist/browser/openapi-explorer.min.js')}`);
}

function htmlAnswer(body: string, policy = contentSecurityPolicy): Answer {
  return text(body, html, { 'content-security-policy': policy });
}

@Controller()
export class PagesController {
  private documentText: string | null = null;

  constructor(
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(RouteTable) private readonly routes: RouteTable,
  ) {}

  @Handles(front)
  async front(@Call() { accept }: RouteCall<typeof front>): Promise<Answer> {
    const isSetUp = await this.isSetUp();
    if (accept.includes('text/html')) return htmlAnswer(frontPage(isSetUp));
    return text(frontText(isSetUp), 'text/plain; charset=utf-8');
  }

  @Handles(document)
  document(): Answer {
    this.documentText ??= JSON.stringify(openApiDocument(this.routes.declarations));
    return text(this.documentText, 'application/json; charset=utf-8', { 'cache-control': 'no-cache' });
  }

  @Handles(docs)
  docs(): Answer {
    return htmlAnswer(docsPage, docsPolicy);
  }

  @Handles(docsStart)
  docsStart(): Answer {
    return text(docsScript, javascript);
  }

  @Handles(docsReader)
  docsReader(): Answer {
    return text(fileOf(readerScript()), javascript, { 'cache-control': 'public, max-age=3600' });
  }

  @Handles(setup)
  async setup(): Promise<Answer> {
    if (await this.isSetUp()) throw new AppError('NOT_FOUND', 'unknown_path', 'This instance is set up already.');
    return htmlAnswer(fileOf(new URL('setup.html', folder)));
  }

  @Handles(setupScript)
  setupScript(): Answer {
    return text(fileOf(new URL('setup.js', folder)), javascript);
  }

  @Handles(style)
  style(): Answer {
    return text(fileOf(new URL('style.css', folder)), 'text/css; charset=utf-8');
  }

  private async isSetUp(): Promise<boolean> {
    const options = { where: [], sort: [], limit: 1, offset: 0, count: false };
    return (await this.readStore.page(organizationsView, options)).documents.length > 0;
  }
}
