/** The few pages that people see: what this is, the setup form, the reader of the API document. All files are our own. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { organizationsView } from '#contracts/account';
import { text, type Answer } from '#http/envelope';
import { openApiDocument } from '#http/openapi';
import { RouteTable } from '#http/route-table';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { consolePage } from '../console/controller.js';
import { docsPage, docsScript, frontText } from './front.js';
import { contentSecurityPolicy, htmlAnswer, redirect } from './layout.js';
import { publicPage } from './page-route.js';

/** The reader's components carry their own style elements. */
const docsPolicy = contentSecurityPolicy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

const javascript = 'text/javascript; charset=utf-8';
const folder = new URL('./', import.meta.url);

const front = publicPage('/');
const docs = publicPage('/docs');
const docsStart = publicPage('/docs/start.js', javascript);
const docsReader = publicPage('/docs/reader.js', javascript);
const setup = publicPage('/setup');
const style = publicPage('/style.css', 'text/css; charset=utf-8');
const svg = 'image/svg+xml; charset=utf-8';
const favicon = publicPage('/favicon.svg', svg);
/** What browsers ask for where a page names none. */
const faviconByName = publicPage('/favicon.ico', svg);
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

@Controller()
export class PagesController {
  #documentText: string | null = null;

  constructor(
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(RouteTable) private readonly routes: RouteTable,
  ) {}

  @Handles(front)
  async front(@Call() { accept }: RouteCall<typeof front>, @Req() request: FastifyRequest): Promise<Answer> {
    const isSetUp = await this.#isSetUp();
    const isBrowser = accept.includes('text/html');
    if (isBrowser) return isSetUp ? consolePage(request) : redirect('/setup');
    return text(frontText(isSetUp), 'text/plain; charset=utf-8');
  }

  @Handles(document)
  document(): Answer {
    this.#documentText ??= JSON.stringify(openApiDocument(this.routes.declarations));
    return text(this.#documentText, 'application/json; charset=utf-8', { 'cache-control': 'no-cache' });
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
  async setup(@Req() request: FastifyRequest): Promise<Answer> {
    return (await this.#isSetUp()) ? redirect('/sign-in') : consolePage(request);
  }

  @Handles(style)
  style(): Answer {
    return text(fileOf(new URL('style.css', folder)), 'text/css; charset=utf-8');
  }

  @Handles(favicon)
  favicon(): Answer {
    return text(fileOf(new URL('favicon.svg', folder)), svg, { 'cache-control': 'public, max-age=86400' });
  }

  @Handles(faviconByName)
  faviconByName(): Answer {
    return this.favicon();
  }

  async #isSetUp(): Promise<boolean> {
    const options = { where: [], sort: [], limit: 1, offset: 0, count: false };
    return (await this.readStore.page(organizationsView, options)).documents.length > 0;
  }
}
