import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../api/client.js';

export const usageKey = ['usage'] as const;

/** What the organisation has and does, for the frame and for the page about it. */
export function useUsage() {
  return useQuery({
    queryKey: usageKey,
    queryFn: () => dataOf(api.GET('/api/usage')),
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
}
