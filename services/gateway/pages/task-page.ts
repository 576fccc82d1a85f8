/** The pages of tasks: the list, and one with its last runs and messages. Pure. */
import type { DeliveryDocument } from '#contracts/delivery';
import type { Explanation } from '#contracts/explanation';
import type { ExecutionDocument } from '#contracts/run';
import type { TaskDocument } from '#contracts/task';
import type { Answer } from '#http/envelope';
import { html, type Html } from './html.js';
import { badge, page, prose, timeOf, valueText } from './layout.js';
import { conditionBadge, decisionText, healthBadge, outcomeBadge } from './words.js';

/** Addresses of pages are shown as links only where a click does what it says. */
export function outsideLink(url: string): Html {
  return /^https?:\/\//i.test(url) ? html`<a href="${url}" rel="noreferrer noopener">${url}</a>` : html`${url}`;
}

function taskRow({ id, spec, status, condition, health, lastExecution, nextRunAt }: TaskDocument): Html {
  return html`<tr>
    <th scope="row"><a href="/tasks/${id}">${spec.name}</a></th>
    <td>
      ${status === 'paused' ? badge('paused', 'plain') : conditionBadge(condition)}
      ${health === 'ok' ? null : healthBadge(health)}
    </td>
    <td>${lastExecution?.reason ?? valueText(lastExecution?.value)}</td>
    <td>${timeOf(lastExecution?.finishedAt ?? null)}</td>
    <td>${timeOf(nextRunAt)}</td>
  </tr>`;
}

export interface TaskListPage {
  readonly tasks: readonly TaskDocument[];
  readonly total: number;
  readonly number: number;
  readonly pages: number;
}

export function taskListPage({ tasks, total, number, pages }: TaskListPage): Answer {
  const rows = tasks.map(taskRow);
  const empty = html`<p>
    There are no tasks yet. <a href="/docs">The API</a> makes them, or <code>meerkat apply</code>.
  </p>`;
  const table = html`<table>
    <thead>
      <tr>
        <th scope="col">Task</th>
        <th scope="col">State</th>
        <th scope="col">Value</th>
        <th scope="col">Last run</th>
        <th scope="col">Next run</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
  const ways = html`<p class="ways">
    ${number > 1 && html`<a href="/tasks?page=${number - 1}" rel="prev">Before</a>`} Page ${number} of ${pages}
    ${number < pages && html`<a href="/tasks?page=${number + 1}" rel="next">Next</a>`}
  </p>`;
  const body = html`<section>
    <h1>Tasks</h1>
    <p>${total} ${total === 1 ? 'task' : 'tasks'}, what needs attention first.</p>
    ${rows.length === 0 ? empty : table} ${pages > 1 && ways}
  </section>`;
  return page({ title: 'Tasks', body, signedIn: true });
}

function runRow(run: ExecutionDocument): Html {
  return html`<tr>
    <td><a href="/executions/${run.id}">${timeOf(run.finishedAt ?? run.queuedAt)}</a></td>
    <td>${outcomeBadge(run)}</td>
    <td>${run.error === null ? valueText(run.values['value']) : run.error.reason}</td>
    <td>${decisionText(run.decision)}</td>
  </tr>`;
}

const deliveryTone = { delivered: 'good', failed: 'bad', expired: 'bad', unknown: 'bad' } as const;

function toneOf(state: string): 'good' | 'bad' | 'plain' {
  return deliveryTone[state as keyof typeof deliveryTone] ?? 'plain';
}

/** The messages of a task or run; of each the last try. */
export function deliveryTable(deliveries: readonly DeliveryDocument[], withRun: boolean): Html {
  const rows = deliveries.map((delivery) => {
    const last = delivery.attempts.at(-1);
    const said = last?.error?.message ?? (last?.response ? `Answered ${last.response.status}.` : '');
    const next = delivery.nextAttemptAt === null ? null : html` Next try ${timeOf(delivery.nextAttemptAt)}.`;
    return html`<tr>
      <td>
        ${withRun ? html`<a href="/executions/${delivery.executionId}">${timeOf(delivery.createdAt)}</a>` : timeOf(delivery.createdAt)}
      </td>
      <td>${delivery.actionType}, ${delivery.type.replace('notification.', '')}</td>
      <td>${badge(delivery.state, toneOf(delivery.state))}</td>
      <td>
        ${last === undefined ? null : `${last.request.url} `}${delivery.attempts.length}
        ${delivery.attempts.length === 1 ? 'try' : 'tries'}. ${said}${next}
      </td>
    </tr>`;
  });
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Made</th>
        <th scope="col">Channel, kind</th>
        <th scope="col">State</th>
        <th scope="col">Last try</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

export function stepList(steps: Explanation['steps']): Html {
  const items = steps.map(
    ({ rule, passed, message }) =>
      html`<li class="${passed ? 'passed' : 'stopped'}">
        <strong>${rule.replaceAll('_', ' ')}</strong>: ${prose(message)}
      </li>`,
  );
  return html`<ol class="steps">
    ${items}
  </ol>`;
}

export interface TaskPage {
  readonly task: TaskDocument;
  readonly explained: Explanation;
  readonly runs: readonly ExecutionDocument[];
  readonly deliveries: readonly DeliveryDocument[];
}

export function taskPage({ task, explained, runs, deliveries }: TaskPage): Answer {
  const { spec, lastExecution } = task;
  const body = html`<section>
      <h1>${spec.name}</h1>
      <p>
        ${task.status === 'paused' && badge('paused', 'plain')} ${conditionBadge(task.condition)}
        ${healthBadge(task.health)}
      </p>
      ${spec.description !== '' && html`<p class="text">${spec.description}</p>`}
      <dl>
        <dt>Page</dt>
        <dd>${outsideLink(spec.url)}</dd>
        <dt>Last value</dt>
        <dd>${valueText(lastExecution?.value)}</dd>
        <dt>Last run</dt>
        <dd>
          ${lastExecution === null ? 'none yet' : html`<a href="/executions/${lastExecution.id}">${timeOf(lastExecution.finishedAt)}</a> ${lastExecution.reason}`}
        </dd>
        <dt>Next run</dt>
        <dd>${timeOf(task.nextRunAt)}</dd>
        ${
          spec.tags.length > 0 &&
          html`<dt>Tags</dt>
            <dd>${spec.tags.join(', ')}</dd>`
        }
      </dl>
    </section>
    <section>
      <h2>Why it did, or did not, notify</h2>
      <p>${prose(explained.answer)}</p>
      ${stepList(explained.steps)}
    </section>
    <section>
      <h2>Last runs</h2>
      ${
        runs.length === 0
          ? html`<p>There are none yet.</p>`
          : html`<table>
              <thead>
                <tr>
                  <th scope="col">Ended</th>
                  <th scope="col">Outcome</th>
                  <th scope="col">Value or error</th>
                  <th scope="col">Decision</th>
                </tr>
              </thead>
              <tbody>
                ${runs.map(runRow)}
              </tbody>
            </table>`
      }
    </section>
    <section>
      <h2>Last messages</h2>
      ${deliveries.length === 0 ? html`<p>There are none yet.</p>` : deliveryTable(deliveries, true)}
    </section>`;
  return page({ title: spec.name, body, signedIn: true });
}
