/** The members of the organisation. Others invite, join and leave meanwhile: the list is new whenever it is looked at again. */
import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.js';

export const membersKey = ['members'] as const;

export const useMembers = () =>
  useQuery({
    queryKey: membersKey,
    staleTime: 0,
    refetchOnWindowFocus: true,
    queryFn: () => answerOf(api.GET('/api/members', { params: { query: { limit: 100 } } })),
  });
