/** Text of a page as it is written where a receiver would read more into it: nothing of it mentions, links or formats. */

/** Seen by nobody, and the end of a word to every receiver. */
const breaker = '\u200b';

/** For receivers that look for names in any text and have no switch for it: what follows the sign is not its name. */
export function withoutMentions(text: string): string {
  return text.replace(/@(?=[^\s\u200b])/g, `@${breaker}`);
}

const slackEntities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** `& < >` as entities, which is all that ends a text there. */
export function withEntities(text: string): string {
  return text.replace(/[&<>]/g, (character) => slackEntities[character] ?? character);
}

/** An entity, for `shortened`. */
export const entity = /&(?:amp|lt|gt|quot|#39);/g;

/** Markdown as CommonMark has it: a backslash shows the character itself. Names and addresses are broken up besides. */
export function escapeCommonMark(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()#+\-.!|~>$^=]/g, '\\$&')
    .replace(/[@<:&](?=[^\s\u200b])/g, (sign) => `${sign}${breaker}`);
}

/** A backslash and what it shows, and what was broken up, for `shortened`. */
export const backslashed = /\\.|[@<:&]\u200b/gsu;

/** A block that shows its text as it is: its fence is longer than any run of the same character inside. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** The same where a fence has three signs and no more: a run of them inside is broken up. */
export function fencedShort(text: string): string {
  return `\`\`\`text\n${text.replace(/`(?=`)/g, `\`${breaker}`)}\n\`\`\``;
}
