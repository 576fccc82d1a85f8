/** German for what came of the user's code: why it ended without an answer, and what to write instead. What the code threw itself stays as it is. */
import type { Saying } from './said.js';

const returned: readonly Saying[] = [
  ['The code returned nothing; return true or false.', 'Der Code gab nichts zurück; geben Sie true oder false zurück.'],
  ['The code returned null; compare it: !== null.', 'Der Code gab null zurück; vergleichen Sie: !== null.'],
  [
    'The code returned the string {text}; compare it: {how}.',
    'Der Code gab den Text {text} zurück; vergleichen Sie: {how}.',
  ],
  ['The code returned the number {n}; compare it: {how}.', 'Der Code gab die Zahl {n} zurück; vergleichen Sie: {how}.'],
  [
    'The code returned the bigint {n}; compare it: {how}.',
    'Der Code gab den BigInt {n} zurück; vergleichen Sie: {how}.',
  ],
  [
    'The code returned a symbol; return true or false.',
    'Der Code gab ein Symbol zurück; geben Sie true oder false zurück.',
  ],
  ['The code returned a function; call it: (…)().', 'Der Code gab eine Funktion zurück; rufen Sie sie auf: (…)().'],
  [
    'The code returned an array of {n}; compare its length: .length > 0.',
    'Der Code gab eine Liste mit {n} Einträgen zurück; vergleichen Sie ihre Länge: .length > 0.',
  ],
  [
    'The code returned a node ({name}); compare it: !== null.',
    'Der Code gab einen Knoten zurück ({name}); vergleichen Sie: !== null.',
  ],
  [
    'The code returned a list ({name}); compare its length: .length > 0.',
    'Der Code gab eine Liste zurück ({name}); vergleichen Sie ihre Länge: .length > 0.',
  ],
  [
    'The code returned an object ({name}); return true or false.',
    'Der Code gab ein Objekt zurück ({name}); geben Sie true oder false zurück.',
  ],
  [
    'The code returned a promise that never settles: nothing is left that could settle it, and there are no timers.',
    'Der Code gab ein Promise zurück, das sich nie erfüllt: nichts ist übrig, das es erfüllen könnte, und Timer gibt es nicht.',
  ],
  ['The code returned more than {oneN} bytes of JSON.', 'Der Code gab mehr als {oneN} Byte JSON zurück.'],
  [
    'The code returned a value that is nested deeper than {oneN} levels.',
    'Der Code gab einen Wert zurück, der tiefer als {oneN} Ebenen verschachtelt ist.',
  ],
  [
    'The code reported a value that is nested deeper than {oneN} levels.',
    'Der Code hat einen Wert gemeldet, der tiefer als {oneN} Ebenen verschachtelt ist.',
  ],
  [
    'The code logged and reported more than its limit allows.',
    'Der Code hat mehr protokolliert und gemeldet, als er darf.',
  ],
  ['page.state is nested deeper than {oneN} levels.', 'page.state ist tiefer als {oneN} Ebenen verschachtelt.'],
  ['page.state must be a JSON object.', 'page.state muss ein JSON-Objekt sein.'],
  ['page.state is larger than {oneN} bytes of JSON.', 'page.state ist größer als {oneN} Byte JSON.'],
  ['The code threw {what}, which is not an Error.', 'Der Code warf {what}, was kein Error ist.'],
  [
    'What the code reported cannot be stored: it is nested too deeply, or is no JSON.',
    'Was der Code gemeldet hat, lässt sich nicht speichern: es ist zu tief verschachtelt oder kein JSON.',
  ],
];

const ended: readonly Saying[] = [
  ['The code used more CPU time than its limit allows.', 'Der Code hat mehr Rechenzeit gebraucht, als er darf.'],
  ['The code used more memory than its limit allows.', 'Der Code hat mehr Speicher gebraucht, als er darf.'],
  [
    'The page and the code need more memory than the limit allows.',
    'Die Seite und der Code brauchen mehr Speicher, als sie dürfen.',
  ],
  ['The code called itself too deeply.', 'Der Code hat sich zu tief selbst aufgerufen.'],
  [
    'The code brought its sandbox to an end; the likely cause is its use of memory.',
    'Der Code hat seine Sandbox beendet; wohl durch den Speicher, den er braucht.',
  ],
  [
    'The code broke the built-ins that its result is written with.',
    'Der Code hat die eingebauten Funktionen verändert, mit denen sein Ergebnis geschrieben wird.',
  ],
  [
    'The code broke the built-ins that markup is read with.',
    'Der Code hat die eingebauten Funktionen verändert, mit denen Markup gelesen wird.',
  ],
  ['The code threw something that cannot be described.', 'Der Code warf etwas, das sich nicht beschreiben lässt.'],
  [
    'The code is too large or too deeply nested to be read.',
    'Der Code ist zu groß oder zu tief verschachtelt, um gelesen zu werden.',
  ],
  ['The code is not valid JavaScript.', 'Der Code ist kein gültiges JavaScript.'],
  [
    'The page needs more than the limits of the sandbox allow.',
    'Die Seite braucht mehr, als die Grenzen der Sandbox zulassen.',
  ],
  ['The page takes more than {oneN} ms to parse.', 'Die Seite zu lesen dauert länger als {oneN} ms.'],
  ['The page takes more memory to parse than is allowed.', 'Die Seite zu lesen braucht mehr Speicher als erlaubt.'],
  ['The page takes more than {oneN} MB to parse.', 'Die Seite zu lesen braucht mehr als {oneN} MB.'],
  ['The page has more than {oneN} elements.', 'Die Seite hat mehr als {oneN} Elemente.'],
  [
    'The page has more than {oneN} attributes on one element.',
    'Die Seite hat mehr als {oneN} Attribute an einem Element.',
  ],
  [
    'The page nests its elements more than {oneN} deep.',
    'Die Seite verschachtelt ihre Elemente tiefer als {oneN} Ebenen.',
  ],
  ['The page is one that the parser cannot read.', 'Diese Seite kann der Parser nicht lesen.'],
  ['The page is blown up by its entities.', 'Die Seite wird durch ihre Entitäten aufgebläht.'],
  [
    'The page or the code ended the evaluator process, twice, the second time alone in it.',
    'Die Seite oder der Code hat den Prozess, der auswertet, zweimal beendet, beim zweiten Mal allein darin.',
  ],
  ['The sandbox was closed or could not be started.', 'Die Sandbox wurde geschlossen oder ließ sich nicht starten.'],
  ['The sandbox broke down: {why}', 'Die Sandbox ist ausgefallen: {why}'],
];

const fromPage: readonly Saying[] = [
  ['page.number: there is no number in {text}.', 'page.number: in {text} ist keine Zahl.'],
  [
    'page.number was given {oneNothing}, so there is no number to read.',
    'page.number bekam {oneNothing}, da ist keine Zahl zu lesen.',
  ],
  [
    'page.report: {name} is {oneN}, which is no number to record.',
    'page.report: {name} ist {oneN}; diese Zahl lässt sich nicht festhalten.',
  ],
  [
    'page.visible: this page was not rendered, so nobody knows; set fetch.mode to "browser".',
    'page.visible: diese Seite wurde nicht dargestellt, also weiß es niemand; setzen Sie fetch.mode auf "browser".',
  ],
  ['SyntaxError: The page is no JSON: it is empty.', 'SyntaxError: Die Seite ist kein JSON: sie ist leer.'],
  [
    'SyntaxError: The page is no JSON: it is markup and begins with {start}; read it through document.',
    'SyntaxError: Die Seite ist kein JSON: sie ist Markup und beginnt mit {start}; lesen Sie sie über document.',
  ],
  [
    'SyntaxError: The page is no JSON: it breaks off at line {oneLine}, column {oneColumn}; it begins with {start}.',
    'SyntaxError: Die Seite ist kein JSON: sie bricht in Zeile {oneLine}, Spalte {oneColumn} ab; sie beginnt mit {start}.',
  ],
  [
    'SyntaxError: The page is no JSON: {why}; it begins with {start}.',
    'SyntaxError: Die Seite ist kein JSON: {why}; sie beginnt mit {start}.',
  ],
  [
    'The value {shown} was a number in the last {oneN} runs, and is none now.',
    'Der Wert {shown} war in den letzten {oneN} Läufen eine Zahl und ist jetzt keine.',
  ],
];

const console = 'Das hilft in der Konsole des Browsers; ';
const node = 'Der Code läuft wie in einer Seite, nicht in Node.js; Module hat er nicht.';
const served =
  'Die Seite wird gelesen, wie der Server sie schickt, bevor eines ihrer Skripte gelaufen ist. Wenn es fehlen kann, schreiben Sie `?.`.';

const missingNames: readonly Saying[] = [
  [
    "There is no jQuery here: write document.querySelector('…').textContent, and [...document.querySelectorAll('…')] for all.",
    "Hier gibt es kein jQuery: schreiben Sie document.querySelector('…').textContent, und [...document.querySelectorAll('…')] für alle.",
  ],
  [
    "There is no jQuery here: write document.querySelector('…') and [...document.querySelectorAll('…')].",
    "Hier gibt es kein jQuery: schreiben Sie document.querySelector('…') und [...document.querySelectorAll('…')].",
  ],
  [
    'That is a helper of the browser’s console; write the expression itself.',
    `${console}schreiben Sie den Ausdruck selbst.`,
  ],
  [
    "That is a helper of the browser’s console; write console.log(…) or page.report('name', …).",
    `${console}schreiben Sie console.log(…) oder page.report('name', …).`,
  ],
  ['That is a helper of the browser’s console; write {code}.', `${console}schreiben Sie {code}.`],
  [
    'The code runs as in a page, not in Node.js; it has no modules. For bytes there are Uint8Array, TextEncoder, atob() and btoa().',
    `${node} Für Bytes gibt es Uint8Array, TextEncoder, atob() und btoa().`,
  ],
  ['The code runs as in a page, not in Node.js; it has no modules.', node],
  ['The global object is `globalThis`, or `window`.', 'Das globale Objekt ist `globalThis` oder `window`.'],
  [
    'There is no browser around the page, so its interfaces for extensions are not there.',
    'Um die Seite ist kein Browser, also fehlen auch seine Schnittstellen für Erweiterungen.',
  ],
  [
    'There is no browser around the page; fetch.mode renders a page where an instance has a browser.',
    'Um die Seite ist kein Browser; fetch.mode stellt eine Seite dar, wo eine Instanz einen Browser hat.',
  ],
  [
    'Nothing happens on a page at rest, so there is no event.',
    'Auf einer ruhenden Seite geschieht nichts, also gibt es kein Ereignis.',
  ],
  [
    'Read the page through `document`: document.querySelector(…).',
    'Lesen Sie die Seite über `document`: document.querySelector(…).',
  ],
  [
    'lodash is not loaded; arrays have map(), filter(), find(), some() and more of their own.',
    'lodash ist nicht geladen; Listen haben selbst map(), filter(), find(), some() und mehr.',
  ],
  ['moment is not loaded; use Date.', 'moment ist nicht geladen; nehmen Sie Date.'],
  [
    'Code has no network: set the task’s url to what should be loaded, and read page.json() or page.text.',
    'Code hat kein Netz: setzen Sie die url der Aufgabe auf das, was geladen werden soll, und lesen Sie page.json() oder page.text.',
  ],
];

/** What stands in backticks at the head is the user's own expression. */
const nothingFound: readonly Saying[] = [
  [
    'page.previous is null in the first run; write `page.previous?.values`.',
    'page.previous ist beim ersten Lauf null; schreiben Sie `page.previous?.values`.',
  ],
  [
    'page.previous is null in the first run; give page.number `{ or: null }` as well.',
    'page.previous ist beim ersten Lauf null; geben Sie page.number auch `{ or: null }`.',
  ],
  [
    '{said} The page is read as the server sends it, before any script of its own has run. If it may be missing, write `?.`.',
    `{said} ${served}`,
  ],
  [
    '{said} The page is read as the server sends it, before any script of its own has run. If it may be missing, give page.number `{ or: null }` as well.',
    '{said} Die Seite wird gelesen, wie der Server sie schickt, bevor eines ihrer Skripte gelaufen ist. Wenn es fehlen kann, geben Sie page.number auch `{ or: null }`.',
  ],
  ['{said} If that may be so, write `?.`.', '{said} Wenn das vorkommen kann, schreiben Sie `?.`.'],
  [
    '{said} If that may be so, give page.number `{ or: null }` as well.',
    '{said} Wenn das vorkommen kann, geben Sie page.number auch `{ or: null }`.',
  ],
  [
    '`{code}` found nothing: no element matches `{selector}`.',
    '`{code}` fand nichts: kein Element passt auf `{selector}`.',
  ],
  [
    '`{code}` found nothing: no element around it matches `{selector}`.',
    '`{code}` fand nichts: kein Element darum herum passt auf `{selector}`.',
  ],
  ['`{code}` found nothing: no element matches.', '`{code}` fand nichts: kein Element passt.'],
  ['`{code}` found nothing: no element around it matches.', '`{code}` fand nichts: kein Element darum herum passt.'],
  ['`{code}` found nothing: no element has that id.', '`{code}` fand nichts: kein Element hat diese id.'],
  [
    '`{code}` found nothing: the pattern does not occur in the text.',
    '`{code}` fand nichts: das Muster kommt im Text nicht vor.',
  ],
  ['`{code}` is null: the element has no such attribute.', '`{code}` ist null: das Element hat dieses Attribut nicht.'],
  ['`{code}` found nothing: no item fits.', '`{code}` fand nichts: kein Eintrag passt.'],
  [
    '`{code}` is undefined: the list has no such item.',
    '`{code}` ist undefined: die Liste hat keinen solchen Eintrag.',
  ],
  ['`{code}` is null: the list has no such item.', '`{code}` ist null: die Liste hat keinen solchen Eintrag.'],
  ['`{code}` is undefined: the list is empty.', '`{code}` ist undefined: die Liste ist leer.'],
  ['`{code}` found nothing under that name.', '`{code}` fand nichts unter diesem Namen.'],
  ['`{code}` is null: there is no such element.', '`{code}` ist null: ein solches Element gibt es nicht.'],
  ['`{code}` is undefined: there is nothing of that name.', '`{code}` ist undefined: nichts hat diesen Namen.'],
];

const written: readonly Saying[] = [
  [
    'A list of elements is no array: write `{code}`.',
    'Eine Liste von Elementen ist kein Array: schreiben Sie `{code}`.',
  ],
  ['`{name}` is a property: leave the brackets away.', '`{name}` ist eine Eigenschaft: lassen Sie die Klammern weg.'],
  ['Did you mean `{name}`?', 'Meinten Sie `{name}`?'],
  [
    "`{name}` is jQuery’s: elements have textContent, innerHTML, value and getAttribute('…').",
    "`{name}` gehört zu jQuery: Elemente haben textContent, innerHTML, value und getAttribute('…').",
  ],
  [
    "That is XPath: write document.evaluate('…', document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue.",
    "Das ist XPath: schreiben Sie document.evaluate('…', document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue.",
  ],
  [
    'That is jQuery’s and not CSS: take all elements, [...document.querySelectorAll(…)], and find yours by textContent.',
    'Das ist jQuery und nicht CSS: nehmen Sie alle Elemente, [...document.querySelectorAll(…)], und suchen Sie Ihres über textContent.',
  ],
  [
    'A name that begins with a digit is escaped: write [id="1a"], or `#${CSS.escape(…)}`.',
    'Ein Name, der mit einer Ziffer beginnt, wird maskiert: schreiben Sie [id="1a"] oder `#${CSS.escape(…)}`.',
  ],
  [
    'Look for brackets and quotation marks that are not closed; names with special characters go through CSS.escape().',
    'Suchen Sie nach Klammern und Anführungszeichen, die nicht geschlossen sind; Namen mit Sonderzeichen gehen durch CSS.escape().',
  ],
  ['It is used above the line that declares it.', 'Es wird oberhalb der Zeile benutzt, die es deklariert.'],
  [
    'It is a `const`: declare it with `let` to change it.',
    'Es ist eine `const`: deklarieren Sie es mit `let`, um es zu ändern.',
  ],
  ['What is taken apart here is null or undefined.', 'Was hier zerlegt wird, ist null oder undefined.'],
  [
    'There are no modules here: the code has to hold all that it uses.',
    'Hier gibt es keine Module: der Code muss alles enthalten, was er braucht.',
  ],
  [
    '`=` assigns; compare with `===`, or end with a line that compares.',
    '`=` weist zu; vergleichen Sie mit `===`, oder enden Sie mit einer Zeile, die vergleicht.',
  ],
  [
    'The value of the last line counts: end with one such as `price < 100`, or write `return price < 100`.',
    'Es zählt der Wert der letzten Zeile: enden Sie mit einer wie `price < 100`, oder schreiben Sie `return price < 100`.',
  ],
  [
    'The function has no `return` with a value: between braces it needs one.',
    'Die Funktion hat kein `return` mit einem Wert: zwischen geschweiften Klammern braucht sie eines.',
  ],
  ['No `return` has a value.', 'Kein `return` hat einen Wert.'],
  [
    'Not every way through the code ends with a `return` that has a value.',
    'Nicht jeder Weg durch den Code endet mit einem `return`, das einen Wert hat.',
  ],
  ['Return true or false.', 'Geben Sie true oder false zurück.'],
  ['Call it: (…)().', 'Rufen Sie sie auf: (…)().'],
  ['Compare its length: .length > 0.', 'Vergleichen Sie die Länge: .length > 0.'],
  ['Compare it: {how}.', 'Vergleichen Sie: {how}.'],
];

export const codeDe: readonly Saying[] = [
  ...returned,
  ...ended,
  ...fromPage,
  ...missingNames,
  ...nothingFound,
  ...written,
];
