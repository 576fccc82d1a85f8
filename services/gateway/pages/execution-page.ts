/** The page of one run: what it found, what was decided and why, what was sent. Pure. */
import type { DeliveryDocument } from '#contracts/delivery';
import type { Explanation } from '#contracts/explanation';
import type { ExecutionDocument, RunError } from '#contracts/run';
import type { Answer } from '#http/envelope';
import { html, type Html } from './html.js';
import { page, prose, timeOf, valueText } from './layout.js';
import { deliveryTable, outsideLink, stepList } from './task-page.js';
import { decisionText, outcomeBadge } from './words.js';

export interface ExecutionPage {
  readonly execution: ExecutionDocument;
  /** null: the task is archived. */
  readonly taskName: string | null;
  readonly steps: Explanation['steps'];
  readonly deliveries: readonly DeliveryDocument[];
  /** The first words of the page; null where it is not kept. */
  readonly excerpt: string | null;
}

function errorPart({ reason, message, line, column, hint }: RunError): Html {
  const place =
    line === undefined ? null : ` Line ${line}${column === undefined ? '' : `, column ${column}`} of the code.`;
  return html`<section>
    <h2>Error</h2>
    <p class="problem"><strong>${reason}</strong>: ${prose(message)}${place}</p>
    ${hint !== undefined && html`<p>${prose(hint)}</p>`}
  </section>`;
}

function valuesPart(values: ExecutionDocument['values']): Html {
  const items = Object.entries(values).map(
    ([name, value]) =>
      html`<dt>${name}</dt>
        <dd>${valueText(value)}</dd>`,
  );
  return html`<section>
    <h2>Values</h2>
    <dl>${items}</dl>
  </section>`;
}

function pagePart({ id, page: seen }: ExecutionDocument, excerpt: string | null): Html | null {
  if (seen === null) return null;
  const kept = html`<blockquote>${excerpt === '' ? 'It has no text.' : excerpt}</blockquote>
    <p><a href="/api/executions/${id}/snapshot">The page as it was evaluated</a></p>`;
  return html`<section>
    <h2>Page</h2>
    <p>
      ${outsideLink(seen.finalUrl)} ${seen.status !== null && `answered ${seen.status}, `}${seen.bytes}
      bytes${seen.fromCache && ', not changed since the run before'}.
    </p>
    ${excerpt === null ? null : kept}
  </section>`;
}

export function executionPage({ execution, taskName, steps, deliveries, excerpt }: ExecutionPage): Answer {
  const { notificationId, error, values, logs, decision } = execution;
  const task = taskName === null ? 'An archived task' : html`<a href="/tasks/${notificationId}">${taskName}</a>`;
  const body = html`<section>
      <p>${task}</p>
      <h1>Run of ${timeOf(execution.finishedAt ?? execution.queuedAt)}</h1>
      <p>
        ${outcomeBadge(execution)} ${execution.trigger === 'manual' ? 'asked for' : 'on schedule'}, due
        ${timeOf(execution.scheduledFor)}
      </p>
    </section>
    ${error !== null && errorPart(error)} ${Object.keys(values).length > 0 && valuesPart(values)}
    <section>
      <h2>Decision</h2>
      <p>${decision === null ? 'Nothing is decided yet.' : decisionText(decision)}</p>
      ${steps.length > 0 && stepList(steps)}
    </section>
    <section>
      <h2>Messages</h2>
      ${deliveries.length === 0 ? html`<p>None was sent.</p>` : deliveryTable(deliveries, false)}
    </section>
    ${pagePart(execution, excerpt)}
    ${
      logs.length > 0 &&
      html`<section>
        <h2>Logged</h2>
        <pre tabindex="0">${logs.map(({ level, message }) => `${level}  ${message}\n`)}</pre>
      </section>`
    }`;
  return page({ title: `Run of ${taskName ?? 'an archived task'}`, body, signedIn: true });
}
