/** How compact JSON says what follows. What is stored counts on these numbers for ever. */

/** What each value begins with. */
export const tag = {
  null: 0x00,
  false: 0x01,
  true: 0x02,
  emptyText: 0x03,
  emptyObject: 0x04,
  emptyList: 0x05,
  double: 0x06,
  whole: 0x07,
  negative: 0x08,
  tenths: 0x09,
  hundredths: 0x0a,
  utf8: 0x0b,
  utf16: 0x0c,
  time: 0x0d,
  uuid: 0x0e,
  hex: 0x0f,
  base64: 0x10,
  slot: 0x11,
  prefixed: 0x12,
  word: 0x13,
  again: 0x14,
  list: 0x15,
  object: 0x16,
  shape: 0x17,
  /** One for each prefix. */
  id: 0x18,
  tails: 0x22,
  words: 0x23,
  agains: 0x60,
  shapes: 0x70,
  small: 0x80,
} as const;

/** How many of each are said in the same byte. */
export const short = {
  words: tag.agains - tag.words,
  agains: tag.shapes - tag.agains,
  shapes: tag.small - tag.shapes,
  numbers: 0x100 - tag.small,
} as const;

/** A text that comes again is said by its place among those before it, of which so many are counted. */
export const remembered = 2_048;

/** Ends of ids in a list: 50 bits each. */
export const tailLength = 10;
export const tailBytes = 7;
