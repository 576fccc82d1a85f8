/** Who is signed in; whoever is not is led to sign in, and back. */
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { createContext, useContext, useEffect, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { api, dataOf, onReachability } from '../api/client.js';
import { isProblem } from '../api/problem.js';
import type { Session } from '../api/types.js';

export const sessionKey = ['session'] as const;

/** Whether somebody was signed in here: the cookie itself is hidden from pages, and who was never here need not be asked for. */
const markKey = 'meerkat.signed-in';
export const wasSignedIn = (): boolean => localStorage.getItem(markKey) !== null;

export function useSessionQuery(isAsked = true): UseQueryResult<Session | null> {
  return useQuery({
    queryKey: sessionKey,
    enabled: isAsked,
    queryFn: async () => {
      try {
        const session = await dataOf(api.GET('/api/sessions/current'));
        localStorage.setItem(markKey, '');
        return session;
      } catch (error) {
        if (isProblem(error) && error.status === 401) {
          localStorage.removeItem(markKey);
          return null;
        }
        throw error;
      }
    },
    staleTime: 60_000,
    retry: (count, error) => count < 3 && (!isProblem(error) || error.status === 0 || error.status >= 500),
  });
}

const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('useSession needs a SignedIn above it');
  return session;
}

export type Scope = 'read' | 'write' | 'execute' | 'admin';

const scopesOf: Readonly<Record<Session['role'], readonly Scope[]>> = {
  owner: ['read', 'write', 'execute', 'admin'],
  admin: ['read', 'write', 'execute', 'admin'],
  editor: ['read', 'write', 'execute'],
  viewer: ['read'],
};

/** What the role may. The server decides all the same. */
export function useScopes(): readonly Scope[] {
  return scopesOf[useSession().role];
}

/** Whether the role may; what it may not is off, with the reason. */
export function useMay(scope: Scope): boolean {
  return useScopes().includes(scope);
}

/** The address to sign in at, which leads back here. */
export function signInAddress(from: string): string {
  return `/sign-in?to=${encodeURIComponent(from)}`;
}

export function SignedIn({
  children,
  waiting,
}: {
  readonly children: ReactNode;
  readonly waiting: ReactNode;
}): ReactNode {
  const { data, isPending, error, refetch } = useSessionQuery();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  useEffect(
    () =>
      onReachability((state) => {
        if (state === 'signed-out') void client.invalidateQueries({ queryKey: sessionKey });
      }),
    [client],
  );
  useEffect(() => {
    if (data !== null) return;
    const { pathname, search, hash } = location;
    navigate(signInAddress(`${pathname}${search}${hash}`), { replace: true });
  }, [data, navigate]);
  useEffect(() => {
    if (error === null) return;
    const timer = setTimeout(() => void refetch(), 3_000);
    return () => clearTimeout(timer);
  }, [error, refetch]);
  if (isPending || data === null || data === undefined) return waiting;
  return <SessionContext value={data}>{children}</SessionContext>;
}
