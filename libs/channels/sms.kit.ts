/** For specs: how many parts a text message has, by 3GPP TS 23.038 and 23.040. */

const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const extension = '^{}\\[~]|€\f';

export function partsOf(text: string): number {
  const signs = Array.from(text);
  if (signs.every((sign) => basic.includes(sign) || extension.includes(sign))) {
    const places = signs.reduce((sum, sign) => sum + (extension.includes(sign) ? 2 : 1), 0);
    return places <= 160 ? 1 : Math.ceil(places / 153);
  }
  return text.length <= 70 ? 1 : Math.ceil(text.length / 67);
}
