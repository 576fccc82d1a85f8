/** A control with its name above it, and below it what is wrong with it or what it is for. */
import { useId, type ReactNode } from 'react';

interface Told {
  readonly label: ReactNode;
  readonly fault?: string | null | undefined;
  readonly hint?: string | undefined;
  readonly isGrown?: boolean;
}

interface ControlProps {
  readonly id: string;
  readonly className: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
}

export function Labelled(props: Told & { readonly children: (control: ControlProps) => ReactNode }): ReactNode {
  const { label, fault = null, hint, isGrown = false, children } = props;
  const id = useId();
  return (
    <div className={isGrown ? 'field grow' : 'field'}>
      <label htmlFor={id}>{label}</label>
      {children({ id, className: 'input', 'aria-invalid': fault !== null, 'aria-describedby': `${id}-note` })}
      <span id={`${id}-note`} className={fault === null ? 'hint' : 'fault'}>
        {fault ?? hint}
      </span>
    </div>
  );
}

export function TextField(
  props: Told & {
    readonly value: string;
    readonly onChange: (value: string) => void;
    readonly isMono?: boolean;
    readonly input?: Omit<React.ComponentProps<'input'>, 'value' | 'onChange' | 'id' | 'className'>;
  },
): ReactNode {
  const { value, onChange, isMono = false, input, ...told } = props;
  return (
    <Labelled {...told}>
      {(control) => (
        <input
          {...input}
          {...control}
          className={isMono ? 'input mono' : 'input'}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Labelled>
  );
}

export function SelectField<T extends string>(
  props: Told & {
    readonly value: T;
    readonly options: readonly (readonly [T, string])[];
    readonly isDisabled?: boolean;
    readonly onChoose: (value: T) => void;
  },
): ReactNode {
  const { value, options, onChoose, isDisabled = false, ...told } = props;
  return (
    <Labelled {...told}>
      {(control) => (
        <select {...control} disabled={isDisabled} value={value} onChange={({ target }) => onChoose(target.value as T)}>
          {options.map(([option, word]) => (
            <option key={option} value={option}>
              {word}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}
