import { Menu } from '@base-ui/react/menu';
import { ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';

/** A menu of words, one of which holds. */
export function Choice<T extends string>(props: {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [T, string])[];
  readonly onChoose: (value: T) => void;
}): ReactNode {
  return (
    <Menu.Root>
      <Menu.Trigger className="button plain">
        {props.label} <ChevronDown size={14} aria-hidden="true" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4}>
          <Menu.Popup className="menu">
            <Menu.RadioGroup value={props.value} onValueChange={(value) => props.onChoose(value as T)}>
              {props.options.map(([value, word]) => (
                <Menu.RadioItem key={value} value={value} className="menu-item" closeOnClick>
                  <span aria-hidden="true" style={{ width: '1rem' }}>
                    <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
                  </span>
                  {word}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
