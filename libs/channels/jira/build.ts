/** Jira: a notification as an issue, on which later ones of the episode comment, and which closes with what is over. */
import { z } from 'zod';
import type { Json } from '#runtime/json';
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
import { basic, below, getRequest, jsonRequest } from '../http-request.js';
import { characters, shortened } from '../text-limits.js';
import { detailsOf, pageOf, textOf, titleOf } from '../texts.js';
import { issueRequests, type Requests } from '../tracked-issue.js';
import { textAt } from '../vendor-answers.js';
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

/** What an issue is given that is asked for its transitions: each with id, name and the category of the status it leads into. */
const asked = z.object({
  transitions: z.array(z.tuple([z.string(), z.string(), z.string()])),
  /** Absent: it was asked by an earlier version. */
  isDone: z.boolean().optional(),
});

/** Ends an issue that is not done already. */
function* closing(
  { closeTransition }: JiraConfig,
  ask: HttpOutgoing,
  close: (transitionId: string) => HttpOutgoing,
): Requests {
  const issue = asked.safeParse(yield ask).data;
  // Somebody deleted it, or closed it.
  if (issue === undefined || issue.isDone === true) return undefined;
  const wanted = closeTransition?.toLowerCase();
  const found = issue.transitions.find(([, name, category]) =>
    wanted === undefined ? category === 'done' : name.toLowerCase() === wanted,
  );
  if (found !== undefined) {
    yield close(found[0]);
    return undefined;
  }
  const names = issue.transitions.map(([, name]) => `“${name}”`).join(', ') || '–';
  const message =
    closeTransition === undefined
      ? `The issue has the comment and stays open: no transition of it leads into a status of the category done. Set closeTransition to one that it has: ${names}.`
      : `The issue has the comment and stays open: it has no transition “${closeTransition}”. Set closeTransition to one that it has: ${names}.`;
  return refusal({ method: 'POST', url: '' }, 'nothing_closes_it', message);
}

function buildJira(
  config: JiraConfig,
  request: Notification,
  { linkBase, opened, receipts = [] }: BuildContext,
): HttpBatch | NothingToSend {
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
  return issueRequests<string>(
    {
      search: { ...search, step: 'search' },
      create,
      comment: (key) => ({ ...jsonRequest(at(key, '/comment'), { body: description }, headers), step: 'comment' }),
      close: (key) =>
        closing(
          config,
          { ...getRequest(`${at(key, '')}?fields=status&expand=transitions`, headers), step: 'transitions' },
          (id) => ({ ...jsonRequest(at(key, '/transitions'), { transition: { id } }, headers), step: 'close' }),
        ),
      keyIn: (receipt) => textAt(receipt, 'key'),
      noIssue: 'No issue of this episode was found in the project, so there is none to close.',
    },
    request,
    opened,
    receipts,
  );
}

export const jira = httpChannel(jiraDeclaration, 'POST', eachEpisode(buildJira), classifyJira, { usesThread: true });
