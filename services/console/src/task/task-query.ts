/** What is asked about one task; what the stream brings is put in. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, dataOf } from '../api/client.js';
import { nextCursorOf } from '../api/cursor.js';
import type { Task } from '../api/types.js';
import { newerOf } from '../stream/changes.js';
import { useChanges } from '../stream/stream.js';

export const taskKey = (id: string, at: string | null) => ['task', id, 'at', at] as const;

/** `at`: as it was then; null: now, kept up to date by the stream. Until it is there, the moment before stays shown. */
export function useTask(id: string, at: string | null) {
  const client = useQueryClient();
  useChanges(({ tasks }) => {
    const changed = tasks.find((task) => task.id === id);
    if (changed !== undefined) client.setQueryData<Task>(taskKey(id, null), (shown) => newerOf(shown, changed));
  });
  return useQuery({
    queryKey: taskKey(id, at),
    queryFn: () =>
      dataOf(api.GET('/api/notifications/{id}', { params: { path: { id }, query: at === null ? {} : { at } } })),
    placeholderData: (before) => before,
  });
}

export const runsPageSize = 100;

/** Runs and skipped slots, newest first, a hundred at a time. */
export function useRuns(id: string, range: { readonly from: string; readonly to: string | null }) {
  const client = useQueryClient();
  const queryKey = ['task', id, 'runs', range] as const;
  useChanges(({ executions }) => {
    const isEnded = executions.some(({ notificationId, finishedAt }) => notificationId === id && finishedAt !== null);
    if (isEnded && range.to === null) void client.invalidateQueries({ queryKey });
  });
  return useInfiniteQuery({
    queryKey,
    initialPageParam: '',
    queryFn: ({ pageParam }) => {
      const { from, to } = range;
      const query = { limit: runsPageSize, after: pageParam, includeSkipped: true, from, ...(to !== null && { to }) };
      return answerOf(
        api.GET('/api/notifications/{id}/executions', { params: { path: { id }, query: query as never } }),
      );
    },
    getNextPageParam: nextCursorOf,
  });
}

/** So many points are drawn at most; what is left out between them stands in their extremes. */
const mostPoints = 600;

/** The numbers that the code reported as `value`, oldest first. */
export function useValues(id: string, from: string) {
  const client = useQueryClient();
  const queryKey = ['task', id, 'values', from] as const;
  useChanges(({ executions }) => {
    const isEnded = executions.some(({ notificationId, finishedAt }) => notificationId === id && finishedAt !== null);
    if (isEnded) void client.invalidateQueries({ queryKey });
  });
  return useQuery({
    queryKey,
    queryFn: async () => {
      const query = { from, limit: mostPoints };
      const { points } = await dataOf(api.GET('/api/notifications/{id}/values', { params: { path: { id }, query } }));
      return points.flatMap(({ value, ...point }) => (typeof value === 'number' ? [{ ...point, value }] : []));
    },
    placeholderData: (before) => before,
  });
}

const hourMs = 3_600_000;

/** Figures by hour or day, for the time whose single runs are not loaded. */
export function useStatistics(id: string, range: { readonly from: string; readonly isByDay: boolean }) {
  const bucket = range.isByDay ? 'day' : 'hour';
  return useQuery({
    queryKey: ['task', id, 'stats', range],
    staleTime: hourMs / 12,
    queryFn: () =>
      dataOf(
        api.GET('/api/notifications/{id}/stats', { params: { path: { id }, query: { from: range.from, bucket } } }),
      ),
    placeholderData: (before) => before,
  });
}

export function useExplanation(id: string, at: string | null) {
  const client = useQueryClient();
  const queryKey = ['task', id, 'explain', at] as const;
  useChanges(({ executions, deliveries }) => {
    const isTouched = [...executions, ...deliveries].some(({ notificationId }) => notificationId === id);
    if (isTouched && at === null) void client.invalidateQueries({ queryKey });
  });
  return useQuery({
    queryKey,
    queryFn: () =>
      dataOf(
        api.GET('/api/notifications/{id}/explain', { params: { path: { id }, query: at === null ? {} : { at } } }),
      ),
    placeholderData: (before) => before,
  });
}

/** Every revision, newest first, a hundred at a time. */
export function useHistory(id: string) {
  return useInfiniteQuery({
    queryKey: ['task', id, 'history'],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/api/notifications/{id}/history', {
          params: { path: { id }, query: { limit: 100, after: pageParam } as never },
        }),
      ),
    getNextPageParam: nextCursorOf,
  });
}
