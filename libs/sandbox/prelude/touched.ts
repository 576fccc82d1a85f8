/** What a run made use of besides the page's address, status and content: where it is nothing, the same page gives the same answer. */
export type Touched = 'state' | 'previous' | 'previous_text' | 'headers' | 'certificate' | 'clock' | 'random';

/** Marks in variables of their own, which no patched built-in can reach. */
let state = false;
let previous = false;
let previousText = false;
let headers = false;
let certificate = false;
let clock = false;
let random = false;

export function touch(what: Touched): void {
  if (what === 'state') state = true;
  else if (what === 'previous') previous = true;
  else if (what === 'previous_text') previousText = true;
  else if (what === 'headers') headers = true;
  else if (what === 'certificate') certificate = true;
  else if (what === 'clock') clock = true;
  else random = true;
}

/** A list as JSON, its first entry empty. */
export function touchedJson(): string {
  // The first entry saves the question whether a comma comes before.
  let text = '[""';
  if (state) text += ',"state"';
  if (previous) text += ',"previous"';
  if (previousText) text += ',"previous_text"';
  if (headers) text += ',"headers"';
  if (certificate) text += ',"certificate"';
  if (clock) text += ',"clock"';
  if (random) text += ',"random"';
  return `${text}]`;
}
