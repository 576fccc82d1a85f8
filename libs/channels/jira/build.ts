/** Jira: a notification as an issue, on which later ones of the episode comment, and which closes with what is over. */
import type { z } from 'zod';
import type { Json } from '#runtime/json';
import {
  httpChannel,
  refusal,
  type BuildContext,
  type HttpBatch,
  type HttpOutgoing,
  type NothingToSend,
  type Notification,
  type Receipt,
} from '../channel.js';
import { eachEpisode, episodeWord } from '../episode.js';
import { basic, below, getRequest, jsonRequest } from '../http-request.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifyJira } from './classify.js';
import { jiraDeclaration } from './declaration.js';

type JiraConfig = z.output<typeof jiraDeclaration.config>;

const limits = { summary: 255, text: 12_000 };

/** The cloud takes a tree in which a text is no more than a text; a data center its own markup, in which one block is. */
function documentOf({ email }: JiraConfig, text: string, links: readonly string[]): Json {
  if (email === undefined) {
    const inert = text.replaceAll('{noformat', '{\u200bnoformat');
    return `{noformat}\n${inert}\n{noformat}\n${links.join('\n')}`;
  }
  const paragraphs = links.map((href) => ({
    type: 'paragraph',
    content: [{ type: 'text', text: href, marks: [{ type: 'link', attrs: { href } }] }],
  }));
  return {
    version: 1,
    type: 'doc',
    content: [{ type: 'codeBlock', content: [{ type: 'text', text }] }, ...paragraphs],
  };
}

/** The id of the transition that closes an issue, among those that it has now. */
function closingOf({ closeTransition }: JiraConfig, receipt: Receipt | null | undefined): string | null {
  const found = receipt?.['transitions'];
  for (const one of Array.isArray(found) ? found : []) {
    if (!Array.isArray(one)) continue;
    const [id, name, category] = one.map(String);
    const isIt =
      closeTransition === undefined ? category === 'done' : name?.toLowerCase() === closeTransition.toLowerCase();
    if (id !== undefined && isIt) return id;
  }
  return null;
}

function requestsOf(config: JiraConfig, request: Notification, linkBase: string) {
  const { serverUrl, email, apiToken, projectKey, issueType = 'Task', labels = [] } = config;
  const version = email === undefined ? '2' : '3';
  const url = (path: string): string => below(serverUrl, `/rest/api/${version}${path}`);
  const authorization = email === undefined ? `Bearer ${apiToken}` : basic(email, apiToken);
  const headers = { authorization, accept: 'application/json' };
  const links = [detailsOf(request, linkBase), pageOf(request)].filter((address) => /^https?:\/\/\S+$/i.test(address));
  const description = documentOf(config, shortened(textOf(request, linkBase, config), limits.text, characters), links);
  const label = episodeWord(request);
  const search = jsonRequest(
    url(email === undefined ? '/search' : '/search/jql'),
    { jql: `project = "${projectKey}" AND labels = "${label}"`, maxResults: 1, fields: ['labels'] },
    headers,
  );
  const fields = {
    project: { key: projectKey },
    issuetype: { name: issueType },
    summary: shortened(titleOf(request, linkBase, config), limits.summary, characters),
    description,
    labels: [...labels, label],
  };
  const create: HttpOutgoing = {
    ...jsonRequest(url('/issue'), { fields }, headers),
    step: 'create',
    unless: { ...search, step: 'search' },
  };
  const at = (key: string, path: string): string => url(`/issue/${encodeURIComponent(key)}${path}`);
  return {
    search: { ...search, step: 'search' } satisfies HttpOutgoing,
    create,
    comment: (key: string): HttpOutgoing => ({
      ...jsonRequest(at(key, '/comment'), { body: description }, headers),
      step: 'comment',
    }),
    transitions: (key: string): HttpOutgoing => ({
      ...getRequest(at(key, '/transitions'), headers),
      step: 'transitions',
    }),
    close: (key: string, id: string): HttpOutgoing => ({
      ...jsonRequest(at(key, '/transitions'), { transition: { id } }, headers),
      step: 'close',
    }),
  };
}

/** `first`, and then whatever closes the issue, as far as it is known. */
function closing(
  config: JiraConfig,
  { transitions, close }: ReturnType<typeof requestsOf>,
  first: HttpOutgoing,
  key: string | null,
  receipts: readonly (Receipt | null)[],
): HttpBatch {
  if (key === null || receipts.length === 0) return { kind: 'http', requests: [first], inOrder: true, more: true };
  const asked = [first, transitions(key)];
  if (receipts.length === 1) return { kind: 'http', requests: asked, inOrder: true, more: true };
  const id = closingOf(config, receipts[1]);
  return { kind: 'http', requests: id === null ? asked : [...asked, close(key, id)], inOrder: true };
}

function keyIn(receipt: Receipt | null | undefined): string | null {
  const key = receipt?.['key'];
  return typeof key === 'string' ? key : null;
}

function buildJira(
  config: JiraConfig,
  request: Notification,
  { linkBase, opened, receipts = [] }: BuildContext,
): HttpBatch | NothingToSend {
  const requests = requestsOf(config, request, linkBase);
  const key = keyIn(opened);
  // A test leaves nothing open.
  if (request.kind === 'test') return closing(config, requests, requests.create, keyIn(receipts[0]), receipts);
  if (request.kind === 'recovered') {
    if (key !== null) return closing(config, requests, requests.comment(key), key, receipts);
    // What was told without an answer, or by an earlier version: its label says whether there is one.
    if (receipts.length === 0) return { kind: 'http', requests: [requests.search], inOrder: true, more: true };
    const found = keyIn(receipts[0]);
    if (found === null) {
      const message = 'No issue of this episode was found in the project, so there is none to close.';
      return refusal({ method: 'POST', url: '' }, 'nothing_to_close', message);
    }
    const rest = closing(config, requests, requests.comment(found), found, receipts.slice(1));
    return { ...rest, requests: [requests.search, ...rest.requests] };
  }
  const { search, create, comment } = requests;
  if (key !== null) return { kind: 'http', requests: [comment(key)] };
  if (request.openedBy === undefined) return { kind: 'http', requests: [create] };
  // What began the episode went with a digest, or nobody knows whether it arrived.
  if (receipts.length === 0) return { kind: 'http', requests: [search], inOrder: true, more: true };
  const known = keyIn(receipts[0]);
  return { kind: 'http', requests: [search, known === null ? create : comment(known)], inOrder: true };
}

export const jira = httpChannel(jiraDeclaration, 'POST', eachEpisode(buildJira), classifyJira, { usesThread: true });
