/** A sentence of the server: what stands in backticks there is code. */
import type { ReactNode } from 'react';

export function Coded({ text }: { readonly text: string }): ReactNode {
  const parts = text.split('`');
  // A lone one is a backtick.
  if (parts.length % 2 === 0) return text;
  return parts.map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}
