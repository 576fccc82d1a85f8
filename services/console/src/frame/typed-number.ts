/** A number as it is typed: half of one, such as a minus sign or nothing, stays in its field and changes nothing yet. */
import { useState, type ChangeEvent } from 'react';

interface TypedNumber {
  readonly value: string;
  readonly onChange: (event: ChangeEvent<HTMLInputElement>) => void;
  readonly onBlur: () => void;
}

/** `take` gets each number that is typed; what is none is forgotten where the field is left. */
export function useTypedNumber(
  value: number,
  isTaken: (typed: number) => boolean,
  take: (typed: number) => void,
): TypedNumber {
  const [typed, setTyped] = useState<string | null>(null);
  return {
    value: typed ?? String(value),
    onChange: ({ target }) => {
      setTyped(target.value);
      if (isTaken(target.valueAsNumber)) take(target.valueAsNumber);
    },
    onBlur: () => setTyped(null),
  };
}
