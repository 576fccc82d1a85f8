/** German for what to do about a run that failed. */
import type { Saying } from './said.js';

const signIn =
  'fetch.auth schickt Benutzernamen und Passwort mit, fetch.headers einen Schlüssel oder ein Cookie. fetch.acceptStatus nimmt die Antwort, wie sie ist.';

const onPages: readonly Saying[] = [
  [
    '{said} The page shows next to nothing without its scripts: its content comes later, in the browser. Look in the browser’s network tools for the address that the data comes from, often JSON, and watch that with page.json(); or have a browser render the page (fetch.mode: "browser").',
    '{said} Die Seite zeigt ohne ihre Skripte fast nichts: ihr Inhalt kommt später, im Browser. Suchen Sie in den Netzwerkwerkzeugen des Browsers die Adresse, von der die Daten kommen, oft JSON, und beobachten Sie diese mit page.json(); oder lassen Sie die Seite von einem Browser darstellen (fetch.mode: "browser").',
  ],
  [
    'The page shows next to nothing without its scripts: its content comes later, in the browser. Look in the browser’s network tools for the address that the data comes from, often JSON, and watch that with page.json(); or have a browser render the page (fetch.mode: "browser").',
    'Die Seite zeigt ohne ihre Skripte fast nichts: ihr Inhalt kommt später, im Browser. Suchen Sie in den Netzwerkwerkzeugen des Browsers die Adresse, von der die Daten kommen, oft JSON, und beobachten Sie diese mit page.json(); oder lassen Sie die Seite von einem Browser darstellen (fetch.mode: "browser").',
  ],
  [
    'The page asks who you are: fetch.auth sends a user name and a password, fetch.headers a key or a cookie. fetch.acceptStatus takes the answer as it is.',
    `Die Seite fragt, wer Sie sind: ${signIn}`,
  ],
  [
    'The page is not for everybody, or for no programs (fetch.userAgent): fetch.auth sends a user name and a password, fetch.headers a key or a cookie. fetch.acceptStatus takes the answer as it is.',
    `Die Seite ist nicht für alle da, oder nicht für Programme (fetch.userAgent): ${signIn}`,
  ],
  [
    'Addresses that are not public are reached where EGRESS_ALLOW names them, such as 127.0.0.1/32.',
    'Adressen, die nicht öffentlich sind, werden erreicht, wo EGRESS_ALLOW sie nennt, etwa 127.0.0.1/32.',
  ],
  [
    'The name does not lead anywhere from this machine; is it spelt right?',
    'Von dieser Maschine aus führt der Name nirgendwohin; ist er richtig geschrieben?',
  ],
  [
    'Nobody listens there, or something on the way refuses; try the address from this machine.',
    'Dort hört niemand zu, oder etwas auf dem Weg weist ab; versuchen Sie die Adresse von dieser Maschine aus.',
  ],
  [
    'A server without TLS is reached by http://. Of one with TLS, fetch.tls takes an authority of your own (ca) or one certificate alone (fingerprint); EGRESS_CA_FILE names authorities for the whole instance.',
    'Ein Server ohne TLS ist über http:// zu erreichen. Für einen mit TLS nimmt fetch.tls eine eigene Zertifizierungsstelle (ca) oder ein einzelnes Zertifikat (fingerprint); EGRESS_CA_FILE nennt Zertifizierungsstellen für die ganze Instanz.',
  ],
  [
    'fetch.timeoutSeconds gives the page more time, up to 120.',
    'fetch.timeoutSeconds gibt der Seite mehr Zeit, bis zu 120.',
  ],
  [
    'The statuses in fetch.acceptStatus are taken for a page; the default is ["2xx"].',
    'Als Seite gilt, was einen Status aus fetch.acceptStatus hat; üblich ist ["2xx"].',
  ],
  ['fetch.maxBytes takes larger pages, up to 52428800.', 'fetch.maxBytes lässt größere Seiten zu, bis zu 52428800.'],
  [
    'A site that asks for cookies or a login often sends visitors in circles; try the last address.',
    'Eine Site, die Cookies oder eine Anmeldung verlangt, schickt Besucher oft im Kreis; versuchen Sie die letzte Adresse.',
  ],
  [
    'Try the address from this machine: what answers there may be no web server, or something on the way.',
    'Versuchen Sie die Adresse von dieser Maschine aus: was dort antwortet, ist vielleicht kein Webserver, oder etwas auf dem Weg.',
  ],
  [
    'fetch.headers can ask for another form of the page, such as Accept-Encoding: identity.',
    'fetch.headers kann eine andere Form der Seite verlangen, etwa Accept-Encoding: identity.',
  ],
  [
    'Other sites are out of reach too, so look at the network of this machine; the task need not be changed.',
    'Auch andere Sites sind nicht zu erreichen: sehen Sie nach dem Netz dieser Maschine; an der Aufgabe ist nichts zu ändern.',
  ],
  [
    'Install Chromium or name a browser in BROWSER; what needs no scripts is read with fetch.mode: "http".',
    'Installieren Sie Chromium, oder nennen Sie einen Browser in BROWSER; was keine Skripte braucht, liest fetch.mode: "http".',
  ],
  [
    'fetch.browser.steps has the steps; POST /api/pages/preview shows the page and selectors that match.',
    'Die Schritte stehen in fetch.browser.steps; POST /api/pages/preview zeigt die Seite und Selektoren, die passen.',
  ],
  [
    'fetch.browser.waitFor says what is waited for, fetch.timeoutSeconds how long everything may take.',
    'fetch.browser.waitFor sagt, worauf gewartet wird, fetch.timeoutSeconds, wie lange alles dauern darf.',
  ],
  [
    'Try with more in fetch.browser.block, or read the page without its scripts by fetch.mode: "http".',
    'Versuchen Sie es mit mehr in fetch.browser.block, oder lesen Sie die Seite ohne ihre Skripte mit fetch.mode: "http".',
  ],
  [
    'More in fetch.browser.block makes the page lighter; fetch.mode: "http" reads it without its scripts.',
    'Mehr in fetch.browser.block macht die Seite leichter; fetch.mode: "http" liest sie ohne ihre Skripte.',
  ],
  [
    'A file is read with fetch.mode: "http", where page.text is what it holds and page.json() what it means.',
    'Eine Datei liest fetch.mode: "http"; page.text ist, was darin steht, und page.json(), was es bedeutet.',
  ],
];

const onCode: readonly Saying[] = [
  [
    'Return true or false: compare, as in `return price < 100`, or write `return found !== null`.',
    'Geben Sie true oder false zurück: durch einen Vergleich wie `return price < 100`, oder mit `return found !== null`.',
  ],
  [
    'If there may be none, write page.number(…, { or: null }) and compare that.',
    'Wenn es keine geben kann, schreiben Sie page.number(…, { or: null }) und vergleichen Sie das.',
  ],
  [
    'Look at what it was calculated from; only numbers that are finite are recorded.',
    'Sehen Sie nach, woraus sie berechnet wurde; festgehalten werden nur endliche Zahlen.',
  ],
  [
    'Look at the page: the code finds something else there, or nothing. Changing the code begins anew.',
    'Sehen Sie die Seite an: der Code findet dort etwas anderes oder nichts. Mit einer Änderung am Code beginnt es von vorn.',
  ],
  [
    'There are no timers and no network in the sandbox, so nothing can settle that promise.',
    'In der Sandbox gibt es weder Timer noch Netz: nichts kann dieses Promise erfüllen.',
  ],
  [
    'Look for a loop that does not end; EVALUATION_CPU_MS raises the limit for the whole instance.',
    'Suchen Sie nach einer Schleife ohne Ende; EVALUATION_CPU_MS hebt die Grenze für die ganze Instanz an.',
  ],
  [
    'EVALUATION_MEMORY_MB raises the limit for the whole instance.',
    'EVALUATION_MEMORY_MB hebt die Grenze für die ganze Instanz an.',
  ],
  ['A function calls itself without an end.', 'Eine Funktion ruft sich ohne Ende selbst auf.'],
  [
    'Log and report less: the text of the one element that counts, not of the whole page.',
    'Protokollieren und melden Sie weniger: den Text des einen Elements, auf das es ankommt, nicht den der ganzen Seite.',
  ],
  [
    'page.state holds a JSON object of at most 16 KiB: keep a key, a hash or a count, not the page.',
    'page.state fasst ein JSON-Objekt von höchstens 16 KiB: behalten Sie einen Schlüssel, eine Prüfsumme oder eine Anzahl, nicht die Seite.',
  ],
];

export const hintsDe: readonly Saying[] = [...onPages, ...onCode];
