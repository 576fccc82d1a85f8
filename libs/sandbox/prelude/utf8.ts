/** UTF-8 in plain JavaScript: the engine has none that code could reach. */
export const encodeBytes = (text: string): number[] => {
  const bytes: number[] = [];
  for (const mark of text) {
    const code = mark.codePointAt(0) ?? 0;
    const safe = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
    if (safe < 0x80) bytes.push(safe);
    else if (safe < 0x800) bytes.push(0xc0 | (safe >> 6), 0x80 | (safe & 63));
    else if (safe < 0x10000) bytes.push(0xe0 | (safe >> 12), 0x80 | ((safe >> 6) & 63), 0x80 | (safe & 63));
    else bytes.push(0xf0 | (safe >> 18), 0x80 | ((safe >> 12) & 63), 0x80 | ((safe >> 6) & 63), 0x80 | (safe & 63));
  }
  return bytes;
};

/** UTF-8 with U+FFFD for what is none. */
export function decodeUtf8(bytes: ArrayLike<number>, from = 0): string {
  let text = '';
  let at = from;
  while (at < bytes.length) {
    const first = bytes[at++] ?? 0;
    if (first < 0x80) {
      text += String.fromCharCode(first);
      continue;
    }
    const needed =
      first >= 0xc2 && first <= 0xdf ? 1 : first >= 0xe0 && first <= 0xef ? 2 : first >= 0xf0 && first <= 0xf4 ? 3 : 0;
    let code = needed === 1 ? first & 0x1f : needed === 2 ? first & 0x0f : first & 0x07;
    let low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    let high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    let isGood = needed > 0;
    for (let more = 0; more < needed; more++) {
      const next = bytes[at];
      if (next === undefined || next < low || next > high) {
        isGood = false;
        break;
      }
      low = 0x80;
      high = 0xbf;
      code = (code << 6) | (next & 0x3f);
      at++;
    }
    text += isGood ? String.fromCodePoint(code) : '\ufffd';
  }
  return text;
}

export function encodeUtf8(text: string): number[] {
  return encodeBytes(text);
}
