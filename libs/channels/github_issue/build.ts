/** GitHub: a notification as an issue, on which later ones of the episode comment, and which closes with what is over. */
import type { z } from 'zod';
import {
  httpChannel,
  refusal,
  type BuildContext,
  type HttpBatch,
  type HttpOutgoing,
  type NothingToSend,
  type Notification,
} from '../channel.js';
import { eachEpisode, episodeWord } from '../episode.js';
import { fenced } from '../escapes.js';
import { below, getRequest, jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { classifyGithubIssue } from './classify.js';
import { githubIssueDeclaration } from './declaration.js';

const limits = { title: 256, text: 30_000 };

/** Only a block of code shows what stands in it as it is. The mark is seen by nobody and found by the search. */
function bodyOf(text: string, links: readonly string[], mark: string): string {
  return [fenced(text), ...links, `<!-- ${mark} -->`].join('\n\n');
}

function buildGithubIssue(
  config: z.output<typeof githubIssueDeclaration.config>,
  request: Notification,
  { linkBase, opened, receipts = [] }: BuildContext,
): HttpBatch | NothingToSend {
  const { repository, token, serverUrl = 'https://api.github.com', labels, assignees } = config;
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    'user-agent': 'Meerkat',
  };
  const issues = below(serverUrl, `/repos/${repository}/issues`);
  const mark = episodeWord(request);
  const links = [detailsOf(request, linkBase), pageOf(request)].flatMap((address) => publicLink(address) ?? []);
  const body = bodyOf(shortened(textOf(request, linkBase, config), limits.text, characters), links, mark);
  const query = new URLSearchParams({ q: `"${mark}" repo:${repository} is:issue in:body`, per_page: '1' });
  const search = {
    ...getRequest(`${below(serverUrl, '/search/issues')}?${query.toString()}`, headers),
    step: 'search',
  };
  const issue = {
    title: shortened(titleOf(request, linkBase, config), limits.title, characters),
    body,
    ...(labels === undefined ? {} : { labels }),
    ...(assignees === undefined ? {} : { assignees }),
  };
  const create: HttpOutgoing = { ...jsonRequest(issues, issue, headers), step: 'create', unless: search };
  const comment = (number: number): HttpOutgoing => ({
    ...jsonRequest(`${issues}/${number}/comments`, { body }, headers),
    step: 'comment',
  });
  const close = (number: number): HttpOutgoing => ({
    ...jsonRequest(`${issues}/${number}`, { state: 'closed', state_reason: 'completed' }, headers, 'PATCH'),
    step: 'close',
  });
  const number = opened?.['number'];
  if (request.kind === 'test') {
    // A test leaves nothing open.
    const made = receipts[0]?.['number'];
    return typeof made === 'number'
      ? { kind: 'http', requests: [create, close(made)], inOrder: true }
      : { kind: 'http', requests: [create], inOrder: true, more: true };
  }
  if (request.kind !== 'recovered') {
    if (typeof number === 'number') return { kind: 'http', requests: [comment(number)] };
    if (request.openedBy === undefined) return { kind: 'http', requests: [create] };
    // What began the episode went with a digest, or nobody knows whether it arrived.
    if (receipts.length === 0) return { kind: 'http', requests: [search], inOrder: true, more: true };
    const known = receipts[0]?.['number'];
    return { kind: 'http', requests: [search, typeof known === 'number' ? comment(known) : create], inOrder: true };
  }
  if (typeof number === 'number') return { kind: 'http', requests: [comment(number), close(number)], inOrder: true };
  // What was told without an answer, or by an earlier version: its mark says whether there is one.
  if (receipts.length === 0) return { kind: 'http', requests: [search], inOrder: true, more: true };
  const found = receipts[0]?.['number'];
  if (typeof found === 'number') {
    return { kind: 'http', requests: [search, comment(found), close(found)], inOrder: true };
  }
  const message = 'No issue of this episode was found in the repository, so there is none to close.';
  return refusal({ method: 'POST', url: '' }, 'nothing_to_close', message);
}

export const githubIssue = httpChannel(
  githubIssueDeclaration,
  'POST',
  eachEpisode(buildGithubIssue),
  classifyGithubIssue,
  {
    usesThread: true,
  },
);
