/** What a mail server says with its reply code, as one sentence for people. Pure. */
import { maskMailbox } from '../summary.js';
import { characters, shortened } from '../text-limits.js';

/** Enough for what servers explain, links to their help pages included. */
const longestWords = 400;

/** More than is kept of any reply. */
const readCharacters = 4_096;

/** Mailboxes stay recognizable; a server may name others than it was given, such as where one forwards to. */
export function withoutMailboxes(text: string): string {
  return text.slice(0, readCharacters).replace(/[^\s<>()[\]"',;:@]+@[^\s<>()"',;:@]+/g, (address) => {
    const end = /[.!?]*$/.exec(address)?.index ?? address.length;
    return maskMailbox(address.slice(0, end)) + address.slice(end);
  });
}

/** Without the codes, which each line of a longer reply repeats (RFC 5321, section 4.2.1). */
function wordsOf(reply: string): string {
  const lines = reply
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*(?:[0-9]{3}(?:[ -]|$))?(?:[245](?:\.[0-9]{1,3}){2}(?:\s+|$))?/, ''));
  const text = withoutMailboxes(
    lines
      .join(' ')
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
  );
  return shortened(text.replace(/[.\s]+$/, ''), longestWords, characters);
}

/** `status`: the enhanced one, where it has one. */
export function saidWith(code: number, status: string | null, reply: string): string {
  const words = wordsOf(reply);
  return `answered ${code}${status === null ? '' : ` (${Math.floor(code / 100)}.${status})`}${words === '' ? '' : `: ${words}`}.`;
}
