/** The slots of a schedule: when a task is due. Pure; times are epoch milliseconds. */
import { createHash } from 'node:crypto';
import type { Schedule } from '#contracts/schedule';
import { nextCronRun } from './cron.js';
import { isInWindow, nextOpening } from './windows.js';

type Repeated = Extract<Schedule, { readonly type: 'interval' | 'cron' }>;

/** Openings of windows that are looked at for a slot inside: more than ten years of any week. */
const maxOpenings = 4_000;

const isOpen = ({ windows, timezone }: Repeated, atMs: number): boolean =>
  windows.length === 0 || windows.some((window) => isInWindow(window, timezone, atMs));

const endMsOf = ({ endAt }: Repeated): number => (endAt === null ? Infinity : Date.parse(endAt));

/** The first time of the grid at or behind `fromMs` that lies in a window; an interval begins anew where one opens. */
function firstOpen(schedule: Repeated, fromMs: number): number | null {
  const { windows, timezone } = schedule;
  let candidate: number | null = fromMs;
  for (let openings = 0; openings < maxOpenings; openings += 1) {
    if (schedule.type === 'cron') candidate = nextCronRun(schedule.cron, timezone, candidate - 1);
    if (candidate === null || candidate > endMsOf(schedule)) return null;
    if (isOpen(schedule, candidate)) return candidate;
    candidate = nextOpening(windows, timezone, candidate);
  }
  return null;
}

/** The first slot at or behind this time, of a schedule that begins then; null: there is none. */
export function firstSlot(schedule: Schedule, fromMs: number): number | null {
  switch (schedule.type) {
    case 'manual':
      return null;
    case 'once':
      return Date.parse(schedule.at) >= fromMs ? Date.parse(schedule.at) : null;
    default:
      return firstOpen(
        schedule,
        Math.max(fromMs, schedule.startAt === null ? -Infinity : Date.parse(schedule.startAt)),
      );
  }
}

/** The slot behind this one; null: it was the last. */
export function slotAfter(schedule: Schedule, slotMs: number): number | null {
  if (schedule.type === 'interval') return firstSlot(schedule, slotMs + schedule.intervalSeconds * 1_000);
  return schedule.type === 'cron' ? firstSlot(schedule, slotMs + 1) : null;
}

/** When the run of a slot is due: later by a part of the jitter that task and slot decide, the same each time. */
export function dueTime(schedule: Schedule, taskId: string, slotMs: number): number {
  const jitterSeconds = 'jitterSeconds' in schedule ? schedule.jitterSeconds : 0;
  if (jitterSeconds === 0) return slotMs;
  const part = createHash('sha256').update(`${taskId} ${slotMs}`).digest().readUInt32BE(0) / 2 ** 32;
  return slotMs + Math.floor(part * jitterSeconds * 1_000);
}

/** The next so many due times, from the slot that is next. */
export function dueTimes(schedule: Schedule, taskId: string, nextSlotMs: number | null, count: number): number[] {
  const times: number[] = [];
  for (let slotMs = nextSlotMs; slotMs !== null && times.length < count; slotMs = slotAfter(schedule, slotMs)) {
    times.push(dueTime(schedule, taskId, slotMs));
  }
  return times;
}

export interface DueSlots {
  /** The latest slot that is due. */
  readonly latestMs: number;
  /** Slots before it that were not fired. `count` is at most `mostCounted`, and then there were at least so many. */
  readonly missed: { readonly fromMs: number; readonly toMs: number; readonly count: number } | null;
  /** null: the latest was the last. */
  readonly nextMs: number | null;
}

export const mostCounted = 1_000;
const hourMs = 3_600_000;

/** Of an interval that nothing else bears on: by arithmetic, however long it was down. */
function dueOfInterval(slotMs: number, intervalMs: number, nowMs: number): DueSlots {
  const count = Math.floor((nowMs - slotMs) / intervalMs);
  const latestMs = slotMs + count * intervalMs;
  return {
    latestMs,
    missed: count === 0 ? null : { fromMs: slotMs, toMs: latestMs - intervalMs, count },
    nextMs: latestMs + intervalMs,
  };
}

/** A slot shortly before now, where many were missed: counting through them all would take too long. */
function lateSlot(schedule: Schedule, nowMs: number, atLeastMs: number): number {
  for (let backMs = hourMs; nowMs - backMs > atLeastMs; backMs *= 8) {
    const slotMs = firstSlot(schedule, nowMs - backMs);
    if (slotMs !== null && slotMs > atLeastMs && slotMs <= nowMs) return slotMs;
  }
  return atLeastMs;
}

/** What of a schedule is due now. `slotMs`: the slot that is due first, at or before now. */
export function dueSlots(schedule: Schedule, taskId: string, slotMs: number, nowMs: number): DueSlots {
  if (schedule.type === 'interval') {
    const { windows, jitterSeconds, endAt, intervalSeconds } = schedule;
    const isPlain = windows.length === 0 && jitterSeconds === 0 && endAt === null;
    if (isPlain) return dueOfInterval(slotMs, intervalSeconds * 1_000, nowMs);
  }
  const isDue = (slot: number): boolean => dueTime(schedule, taskId, slot) <= nowMs;
  let [latestMs, beforeMs, count] = [slotMs, slotMs, 0];
  let nextMs = slotAfter(schedule, latestMs);
  while (nextMs !== null && isDue(nextMs)) {
    [beforeMs, latestMs] = [latestMs, nextMs];
    count += 1;
    if (count === mostCounted) latestMs = lateSlot(schedule, nowMs, latestMs);
    nextMs = slotAfter(schedule, latestMs);
  }
  const missed = count === 0 ? null : { fromMs: slotMs, toMs: beforeMs, count: Math.min(count, mostCounted) };
  return { latestMs, missed, nextMs };
}
