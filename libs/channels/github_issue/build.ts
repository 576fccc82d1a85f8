/** GitHub: a notification as an issue, on which later ones of the episode comment, and which closes with what is over. */
import type { z } from 'zod';
import { httpChannel, type BuildContext, type HttpBatch, type NothingToSend, type Notification } from '../channel.js';
import { eachEpisode, episodeWord } from '../episode.js';
import { fenced } from '../escapes.js';
import { below, getRequest, jsonRequest } from '../http-request.js';
import { publicLink } from '../links.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { issueRequests } from '../tracked-issue.js';
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
  return issueRequests<number>(
    {
      search,
      create: { ...jsonRequest(issues, issue, headers), step: 'create', unless: search },
      comment: (number) => ({ ...jsonRequest(`${issues}/${number}/comments`, { body }, headers), step: 'comment' }),
      *close(number) {
        const closed = { state: 'closed', state_reason: 'completed' };
        yield { ...jsonRequest(`${issues}/${number}`, closed, headers, 'PATCH'), step: 'close' };
        return undefined;
      },
      keyIn: (receipt) => (typeof receipt?.['number'] === 'number' ? receipt['number'] : null),
      noIssue: 'No issue of this episode was found in the repository, so there is none to close.',
    },
    request,
    opened,
    receipts,
  );
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
