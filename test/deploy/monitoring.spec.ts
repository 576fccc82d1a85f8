/** What stands in deploy/monitoring speaks of metrics that there are, with labels that they have. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { z } from 'zod';
import { createInstallation } from '../e2e/kit/create-installation.js';
import type { Installation } from '../e2e/kit/installation.js';

const rules = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z
        .array(
          z.strictObject({
            alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
            expr: z.string(),
            for: z.string().regex(/^\d+[smh]$/),
            labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
            annotations: z.strictObject({ summary: z.string() }),
          }),
        )
        .min(1),
    }),
  ),
});

const dataSource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });
const target = z.strictObject({
  datasource: dataSource,
  editorMode: z.literal('code'),
  expr: z.string(),
  legendFormat: z.string().min(1),
  range: z.literal(true),
  refId: z.string().regex(/^[A-Z]$/),
});
const panel = z.strictObject({
  id: z.int().min(1),
  type: z.enum(['stat', 'timeseries']),
  title: z.string().min(1),
  description: z.string().min(1),
  datasource: dataSource,
  gridPos: z.strictObject({
    x: z.int().min(0).max(23),
    y: z.int().min(0),
    w: z.int().min(1).max(24),
    h: z.int().min(1),
  }),
  targets: z.array(target).min(1),
  options: z.record(z.string(), z.json()),
  fieldConfig: z.strictObject({
    defaults: z.looseObject({ unit: z.enum(['short', 's', 'ops', 'reqps', 'bytes']) }),
    overrides: z.array(z.never()),
  }),
});
const dashboard = z.looseObject({
  uid: z.string().regex(/^[a-z-]{1,40}$/),
  title: z.string().min(1),
  schemaVersion: z.int().min(36),
  panels: z.array(panel).min(1),
  templating: z.strictObject({
    list: z.array(z.looseObject({ name: z.string(), type: z.enum(['datasource', 'query']) })),
  }),
});

const read = (file: string): Promise<string> =>
  readFile(new URL(`../../deploy/monitoring/${file}`, import.meta.url), 'utf8');

/** Where the grammar of Prometheus does not go on, by the text from there. */
function faultsOf(expression: string): readonly string[] {
  const faults: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, from }) => {
      if (type.isError) faults.push(expression.slice(from));
    },
  });
  return faults;
}

/** Names of metrics as an expression has them; of a histogram those of its parts. */
const metricsIn = (expression: string): readonly string[] =>
  (expression.match(/(?:meerkat|process|nodejs)_\w+/g) ?? []).map((name) =>
    name.replace(/_seconds_(bucket|count|sum)$/, '_seconds'),
  );

/** Each label that an expression names, of the metrics that stand in it. */
const labelsIn = (expression: string): readonly string[] => [
  ...[...expression.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, name = '']) => name),
  ...[...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/)),
];

/** A scrape adds these. */
const scraped = new Set(['job', 'instance']);

let installation: Installation;
beforeAll(async () => {
  installation = await createInstallation();
  await installation.start();
});
afterAll(() => installation.remove());

describe('the alerts for Prometheus', () => {
  it('name metrics and labels that /metrics has', async () => {
    const alerts = rules.parse(parse(await read('prometheus-rules.yml'))).groups.flatMap((group) => group.rules);
    const { text } = await installation.api.send('/metrics', { key: null });
    const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const named = alerts.flatMap(({ expr }) => expr.match(/meerkat_\w+/g) ?? []);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    for (const label of ['health="error"', 'quantile="0.99"']) expect(text).toContain(label);
    expect(alerts.flatMap(({ expr }) => faultsOf(expr))).toEqual([]);
  });
});

describe('the dashboard for Grafana', () => {
  const open = async () => dashboard.parse(JSON.parse(await read('grafana-dashboard.json')));

  it('has panels that stand beside each other, each with a name and an id of its own', async () => {
    const { panels } = await open();
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)}/${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it('asks in the grammar of Prometheus for metrics and labels that /metrics has, and shows each of Meerkat’s own', async () => {
    const { panels, templating } = await open();
    const { text } = await installation.api.send('/metrics', { key: null });
    const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    // Grafana puts a duration in the place of its own variable.
    expect(expressions.flatMap((one) => faultsOf(one.replaceAll('$__rate_interval', '1m')))).toEqual([]);
    const named = expressions.flatMap(metricsIn);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    const own = [...known].filter((name) => name.startsWith('meerkat_') && !name.endsWith('_info'));
    expect(own.filter((name) => !named.includes(name))).toEqual([]);
    // Counters have no sample before something is counted.
    const source = await read('../../libs/runtime/metrics.ts');
    const declared = [
      ...[...source.matchAll(/labelNames: \[('[^\]]*')\]/g)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []),
      ...[...text.matchAll(/(\w+)="/g)].map(([, name = '']) => name),
    ];
    const labels = expressions.flatMap(labelsIn).filter((label) => !scraped.has(label) && label !== 'le');
    expect(labels.filter((label) => !declared.includes(label))).toEqual([]);
    const variables = templating.list.map(({ name }) => name);
    for (const [, variable = ''] of expressions.join(' ').matchAll(/\$(?!__)(\w+)/g))
      expect(variables).toContain(variable);
  });

  it('is checked by a grammar that finds what Prometheus would refuse', () => {
    expect(faultsOf('sum(rate(meerkat_runs_total[5m])')).not.toEqual([]);
    expect(faultsOf('sum by (meerkat_runs_total')).not.toEqual([]);
    expect(faultsOf('sum(rate(meerkat_runs_total[5m]))')).toEqual([]);
  });
});
