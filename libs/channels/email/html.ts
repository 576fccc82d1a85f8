/** The HTML of a mail whose action has no body: what happened, what changed, and where to look. Tables, as mail programs want. */
import { escapeHtml } from '#templates/templates';
import type { Notification } from '../channel.js';
import { changesOf, linksOf, type ShownChange } from '../message.js';

const colors: Readonly<Record<Notification['kind'], string>> = {
  triggered: '#d98c00',
  recovered: '#2e8b57',
  error: '#c0392b',
  test: '#607d8b',
  digest: '#2563eb',
};

const muted = 'color:#5b6472;font-size:13px';

function link(href: string, text: string): string {
  return /^https?:\/\//i.test(href)
    ? `<a href="${escapeHtml(href)}" style="color:#1d4ed8">${escapeHtml(text)}</a>`
    : escapeHtml(text);
}

function button(href: string, text: string): string {
  const style =
    'display:inline-block;padding:9px 16px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none;font-weight:600;margin:0 8px 8px 0';
  return `<a href="${escapeHtml(href)}" style="${style}">${escapeHtml(text)}</a>`;
}

function row(name: string, value: string): string {
  return `<tr><td style="padding:4px 16px 4px 0;vertical-align:top;${muted}">${escapeHtml(name)}</td><td style="padding:4px 0">${value}</td></tr>`;
}

function changeRow({ name, before, after }: ShownChange): string {
  const now = `<b>${escapeHtml(after)}</b>`;
  return row(name, before === null ? now : `<s style="color:#9a3412">${escapeHtml(before)}</s> → ${now}`);
}

type Shown = Pick<Notification, 'context' | 'createdAt'>;

function rowsOf({ context }: Shown): string {
  const { task, execution, title, excerpt, hint } = context;
  const page = execution.finalUrl ?? task.url;
  return [
    ...(hint === undefined ? [] : [row('What to do', escapeHtml(hint))]),
    ...changesOf(context).map(changeRow),
    row(
      'Page',
      title === undefined
        ? link(page, page)
        : `${link(page, title)}<br><span style="${muted}">${escapeHtml(page)}</span>`,
    ),
    ...(excerpt === undefined
      ? []
      : [row('Before', escapeHtml(excerpt.before)), row('Now', escapeHtml(excerpt.after))]),
    row('Checked', escapeHtml(execution.finishedAt)),
  ].join('');
}

function itemOf(item: Shown): string {
  return `<tr><td style="padding:12px 0;border-top:1px solid #e4e8ee"><div style="font-weight:600">${escapeHtml(item.context.message)}</div><table role="presentation" cellpadding="0" cellspacing="0">${rowsOf(item)}</table></td></tr>`;
}

function contentOf(request: Notification): string {
  const { items } = request;
  return items === undefined
    ? `<table role="presentation" cellpadding="0" cellspacing="0">${rowsOf(request)}</table>`
    : `<table role="presentation" cellpadding="0" cellspacing="0" width="100%">${items.map(itemOf).join('')}</table>`;
}

/** `hasChart`: the mail carries the picture of the last values. */
export function htmlOf(request: Notification, linkBase: string, hasChart: boolean): string {
  const { task, message } = request.context;
  const links = linksOf(request, linkBase);
  const chart = hasChart
    ? '<p style="margin:16px 0 0"><img src="cid:chart" width="480" height="120" alt="The last values" style="max-width:100%;height:auto;border:1px solid #e4e8ee;border-radius:6px"></p>'
    : '';
  const acknowledge = links.acknowledge === undefined ? '' : button(links.acknowledge, 'Acknowledge');
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escapeHtml(task.name)}</title></head>`,
    '<body style="margin:0;padding:24px;background:#f4f6f8;color:#111827;font:15px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif">',
    '<table role="presentation" cellpadding="0" cellspacing="0" width="100%" style="max-width:600px;margin:0 auto;background:#ffffff;border-radius:10px">',
    `<tr><td style="height:6px;background:${colors[request.kind]};border-radius:10px 10px 0 0;font-size:0">&nbsp;</td></tr>`,
    `<tr><td style="padding:24px"><div style="${muted}">${escapeHtml(task.name)}</div>`,
    `<h1 style="margin:4px 0 16px;font-size:20px;line-height:1.3">${escapeHtml(message)}</h1>`,
    contentOf(request),
    chart,
    `<p style="margin:20px 0 0">${button(links.execution, 'See the check')}${acknowledge}</p>`,
    `<p style="margin:8px 0 0;${muted}">${link(links.task, 'All about this task')}</p>`,
    '</td></tr></table></body></html>',
  ].join('\n');
}
