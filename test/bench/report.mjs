// One measured figure, beside its baseline and its target, as a line for people or an object for machines.

/**
 * @typedef {object} Figure
 * @property {string} bench
 * @property {string} case
 * @property {number} value
 * @property {string} unit
 * @property {{ name: string, value: number } | null} [baseline] measured in the same run
 * @property {number | null} [target]
 * @property {'at least' | 'at most'} [direction] which side of the target is good
 */

const rounded = (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : null);

/** @param {Figure} figure */
export function toRecord({ bench, case: name, value, unit, baseline = null, target = null, direction = 'at most' }) {
  const isMet = direction === 'at least' ? value >= target : value <= target;
  return {
    bench,
    case: name,
    value: rounded(value),
    unit,
    baseline: baseline === null ? null : { name: baseline.name, value: rounded(baseline.value) },
    ratio: baseline === null || baseline.value === 0 ? null : rounded(value / baseline.value),
    target: target === null ? null : `${direction} ${target}`,
    ok: target === null ? null : Number.isFinite(value) && isMet,
  };
}

const shown = (value) => (value === null ? 'none' : value.toLocaleString('en-US', { maximumFractionDigits: 3 }));

export function toLine({ bench, case: name, value, unit, baseline, ratio, target, ok }) {
  const against = baseline === null ? '' : `   ${baseline.name}: ${shown(baseline.value)} (×${shown(ratio)})`;
  const verdict = ok === null ? '' : `   ${ok ? 'ok' : 'MISSED'}, target ${target}`;
  return `${bench.padEnd(9)} ${name.padEnd(46)} ${`${shown(value)} ${unit}`.padStart(16)}${verdict}${against}`;
}

export function median(values) {
  return quantile(values, 0.5);
}

/** The smallest value that at least `share` of all are not above. */
export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? Number.NaN : sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
}
