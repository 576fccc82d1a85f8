/** Who did something, as people call them: `user:usr_…` and `key:key_…` are how the API writes them. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answerOf, api } from '../api/client.js';
import { useTexts } from '../text/text.js';
import { useMay, useSession } from './session.js';

const mostNamed = 100;

/** Members and keys are an administrator's to see; others see ids. */
function useKnownNames() {
  return useQuery({
    queryKey: ['actors'],
    enabled: useMay('admin'),
    staleTime: 60_000,
    queryFn: async () => {
      const query = { limit: mostNamed };
      const [members, keys] = await Promise.all([
        answerOf(api.GET('/api/members', { params: { query } })),
        answerOf(api.GET('/api/keys', { params: { query } })),
      ]);
      return {
        names: new Map<string, string>([
          ...members.data.map(({ id, email }) => [`user:${id}`, email] as const),
          ...keys.data.map(({ id, name }) => [`key:${id}`, name] as const),
        ]),
        hasAllMembers: members.data.length < mostNamed,
      };
    },
  });
}

export interface NamedActor {
  /** As the API writes it. */
  readonly ref: string;
  /** In lists. */
  readonly shown: string;
  readonly name: string;
}

export interface ActorNames {
  readonly nameOf: (actor: string) => string;
  /** All whose names are known, for a field that takes them. */
  readonly known: readonly NamedActor[];
}

export function useActorNames(): ActorNames {
  const { t } = useTexts();
  const { account } = useSession();
  const { data } = useKnownNames();
  // Who is signed in may look at an organisation that they are no member of.
  const names = new Map([[`user:${account.id}`, account.email], ...(data?.names ?? [])]);
  const nameOf = (actor: string): string => {
    const name = names.get(actor);
    if (name !== undefined) return actor.startsWith('key:') ? t('actor.key', { name }) : name;
    return data?.hasAllMembers === true && actor.startsWith('user:') ? t('actor.noMember', { actor }) : actor;
  };
  return { nameOf, known: [...names].map(([ref, name]) => ({ ref, name, shown: nameOf(ref) })) };
}

export function Actor({ actor }: { readonly actor: string }): ReactNode {
  const { nameOf } = useActorNames();
  return <bdi title={actor}>{nameOf(actor)}</bdi>;
}
