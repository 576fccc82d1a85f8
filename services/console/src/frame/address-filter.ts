/** Filters of a list as they stand in the address, under the API's own names; what the API would refuse is passed over. */
import { useLocation, useSearch } from 'wouter';

export interface AddressFilter<Name extends string> {
  readonly chosen: Readonly<Partial<Record<Name, string>>>;
  readonly choose: (changes: Readonly<Partial<Record<Name, string>>>) => void;
}

/** `takes`: for each name the values there are, or null where any text will do. */
export function useAddressFilter<Name extends string>(
  takes: Readonly<Record<Name, readonly string[] | null>>,
): AddressFilter<Name> {
  const search = new URLSearchParams(useSearch());
  const [path, navigate] = useLocation();
  const chosen: Partial<Record<Name, string>> = {};
  for (const name of Object.keys(takes) as Name[]) {
    const value = search.get(name)?.trim() ?? '';
    if (value !== '' && takes[name]?.includes(value) !== false) chosen[name] = value;
  }
  return {
    chosen,
    choose: (changes) => {
      const next = new URLSearchParams();
      for (const [name, value] of Object.entries<string | undefined>({ ...chosen, ...changes })) {
        if (value !== undefined && value.trim() !== '') next.set(name, value.trim());
      }
      navigate(`${path}${next.size === 0 ? '' : `?${next.toString()}`}`);
    },
  };
}
