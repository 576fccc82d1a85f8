/** What a control's `autocomplete` says, by the standard's autofill processing model; read where code asks for it. */
import { inputType } from './form-members.js';
import { tag } from './nodes.js';
import { asciiLowerCase } from './row-lists.js';
import { getAttribute } from './attribute-values.js';

const person =
  'name|honorific-(?:prefix|suffix)|(?:given|additional|family)-name|nickname|username|(?:new|current)-password|one-time-code|organization(?:-title)?|language|bday(?:-(?:day|month|year))?|sex|url|photo';
const place = 'street-address|address-line[1-3]|address-level[1-4]|country(?:-name)?|postal-code';
const payment =
  'cc-(?:name|given-name|additional-name|family-name|number|exp|exp-month|exp-year|csc|type)|transaction-(?:currency|amount)';
const reach = 'tel(?:-(?:country-code|national|area-code|local|local-prefix|local-suffix|extension))?|email|impp';
const section = '(?:section-\\S* )?(?:(?:shipping|billing) )?';
const detail = new RegExp(
  `^${section}(?:${person}|${place}|${payment}|(?:(?:home|work|mobile|fax|pager) )?(?:${reach}))(?: webauthn)?$|^webauthn$`,
);

/** The details in lower case with one space between them; nothing where they make no sense together. */
export function autofillOf(node: number): string {
  const written = asciiLowerCase(getAttribute(node, 'autocomplete') ?? '');
  const words = written.split(/[\t\n\f\r ]+/).filter((word) => word !== '');
  const text = words.join(' ');
  const isHidden = tag(node) === 'input' && inputType(node) === 'hidden';
  return detail.test(text) || (!isHidden && /^(?:on|off)$/.test(text)) ? text : '';
}
