/** German for why a page could not be loaded, or a message not be sent: what the network, the sites and the browser did. */
import type { Saying } from './said.js';

/** Kinds of addresses that are not gone to, as the end of `führt zu`. */
const addresses: readonly Saying[] = [
  ['this machine itself', 'dieser Maschine selbst'],
  ['an address of "this network"', 'einer Adresse von „diesem Netz“'],
  ['a private address', 'einer privaten Adresse'],
  ["a cloud platform's inner address", 'einer inneren Adresse eines Cloud-Anbieters'],
  ['a carrier-grade NAT address', 'einer Adresse hinter dem NAT eines Anbieters'],
  ['a loopback address', 'dieser Maschine selbst'],
  ['a link-local address', 'einer Adresse, die nur im selben Netzabschnitt gilt'],
  ['an address of one link', 'einer Adresse, die nur im selben Netzabschnitt gilt'],
  ['a site-local address', 'einer Adresse, die nur am selben Ort gilt'],
  ['a documentation address', 'einer Adresse für Beispiele'],
  ['a benchmarking address', 'einer Adresse für Messungen'],
  ['a multicast address', 'einer Multicast-Adresse'],
  ['a reserved address', 'einer reservierten Adresse'],
  ['a withdrawn address', 'einer zurückgezogenen Adresse'],
  ['a discard-only address', 'einer Adresse, unter der alles verworfen wird'],
  ['the unspecified address', 'der unbestimmten Adresse'],
  // 6to4, NAT64, Teredo and the like.
  ['a {name} address', 'einer Adresse ({name})'],
  ['an {name} address', 'einer Adresse ({name})'],
];

const network: readonly Saying[] = [
  ['The connection was closed.', 'Die Verbindung wurde geschlossen.'],
  ['The server closed the connection.', 'Der Server hat die Verbindung geschlossen.'],
  ['The datagram is longer than the network takes.', 'Das Datagramm ist länger, als das Netz zulässt.'],
  ['Nobody listens at the port.', 'An diesem Port hört niemand zu.'],
  ['The datagram could not be sent.', 'Das Datagramm ließ sich nicht senden.'],
  ['The request was given up.', 'Die Anfrage wurde aufgegeben.'],
  [
    'The address points to {said}, which is not reachable from here. The operator of this service can allow it with EGRESS_ALLOW.',
    'Die Adresse führt zu {said}; dorthin geht diese Instanz nicht. Der Betreiber kann es mit EGRESS_ALLOW erlauben.',
  ],
  [
    'The host name points to an address that is not public, so it is not reachable from here. The operator of this service can allow it with EGRESS_ALLOW.',
    'Der Hostname führt zu einer Adresse, die nicht öffentlich ist; dorthin geht diese Instanz nicht. Der Betreiber kann es mit EGRESS_ALLOW erlauben.',
  ],
  [
    'The address is that of a server on which this service keeps its data.',
    'Unter dieser Adresse steht ein Server, auf dem dieser Dienst seine Daten hält.',
  ],
  ['The name servers did not answer for {oneName}.', 'Die Nameserver haben zu {oneName} nicht geantwortet.'],
  ['The host name {oneName} does not exist.', 'Den Hostnamen {oneName} gibt es nicht.'],
  ['The host name {oneName} has no address.', 'Zum Hostnamen {oneName} gibt es keine Adresse.'],
  [
    'The name servers gave something for {oneName} that is no address.',
    'Die Nameserver nennen zu {oneName} etwas, das keine Adresse ist.',
  ],
  [
    'The server refused the connection: nothing listens on that port.',
    'Der Server hat die Verbindung abgewiesen: an diesem Port hört nichts zu.',
  ],
  [
    'The server cannot be reached: there is no route to it.',
    'Der Server ist nicht zu erreichen: es führt kein Weg zu ihm.',
  ],
  ['The server did not accept the connection in time.', 'Der Server hat die Verbindung nicht rechtzeitig angenommen.'],
  ['The connection to the server failed.', 'Die Verbindung zum Server ist gescheitert.'],
  [
    'The server closed the connection in the middle of its answer.',
    'Der Server hat die Verbindung mitten in der Antwort geschlossen.',
  ],
  [
    'The server closed the connection before it answered.',
    'Der Server hat die Verbindung geschlossen, bevor er antwortete.',
  ],
  ['The proxy did not open the connection in time.', 'Der Proxy hat die Verbindung nicht rechtzeitig geöffnet.'],
  ['The proxy closed the connection.', 'Der Proxy hat die Verbindung geschlossen.'],
  ['The proxy does not speak HTTP.', 'Der Proxy spricht kein HTTP.'],
  ['The proxy wants other credentials (407).', 'Der Proxy verlangt andere Zugangsdaten (407).'],
  [
    'The proxy refused to open the connection ({oneStatus}).',
    'Der Proxy hat es abgelehnt, die Verbindung zu öffnen ({oneStatus}).',
  ],
  [
    'The proxy is not an address such as http://proxy.example.com:3128.',
    'Der Proxy ist keine Adresse, etwa http://proxy.example.com:3128.',
  ],
  ['The service is shutting down.', 'Der Dienst wird gerade angehalten.'],
  ['The visit has ended.', 'Der Besuch der Seite ist zu Ende.'],
  ['The exchange has ended.', 'Der Austausch ist zu Ende.'],
  ['The request could not be made.', 'Die Anfrage ließ sich nicht stellen.'],
];

const tls: readonly Saying[] = [
  ["The server's certificate has expired.", 'Das Zertifikat des Servers ist abgelaufen.'],
  ["The server's certificate is not valid yet.", 'Das Zertifikat des Servers gilt noch nicht.'],
  [
    "The server's certificate is self-signed, so it cannot be trusted.",
    'Der Server hat sein Zertifikat selbst unterschrieben: niemand bürgt dafür.',
  ],
  [
    "The issuer of the server's certificate is not known, or the chain is incomplete.",
    'Der Aussteller des Zertifikats ist nicht bekannt, oder die Kette ist unvollständig.',
  ],
  [
    "The server's certificate is for another host name.",
    'Das Zertifikat des Servers gilt für einen anderen Hostnamen.',
  ],
  ['What answers there does not speak TLS.', 'Was dort antwortet, spricht kein TLS.'],
  [
    'The server and this service could not agree on a secure connection (TLS).',
    'Der Server und dieser Dienst konnten sich auf keine sichere Verbindung (TLS) einigen.',
  ],
  [
    'The secure connection (TLS) was not agreed on in time.',
    'Die sichere Verbindung (TLS) kam nicht rechtzeitig zustande.',
  ],
  [
    'The client certificate and its key cannot be used together.',
    'Das Client-Zertifikat und sein Schlüssel gehören nicht zusammen.',
  ],
  [
    'The server shows another certificate than fingerprint names: {shown}.',
    'Der Server zeigt ein anderes Zertifikat, als fingerprint nennt: {shown}.',
  ],
];

const answers: readonly Saying[] = [
  ["The answer's headers are larger than 16 KB.", 'Die Kopfzeilen der Antwort sind größer als 16 KB.'],
  [
    'The request has a method or a header that HTTP does not allow.',
    'Die Anfrage hat eine Methode oder Kopfzeile, die HTTP nicht erlaubt.',
  ],
  ['The method {oneMethod} is not allowed.', 'Die Methode {oneMethod} ist nicht erlaubt.'],
  [
    'The answer is shorter or longer than the server announced (Content-Length).',
    'Die Antwort ist kürzer oder länger, als der Server angekündigt hat (Content-Length).',
  ],
  ['The answer does not follow the HTTP protocol.', 'Die Antwort hält sich nicht an das HTTP-Protokoll.'],
  [
    'The server answered with something that does not belong to the request.',
    'Der Server hat mit etwas geantwortet, das nicht zur Anfrage gehört.',
  ],
  [
    'The answer is compressed in a way that is not known here: {name}.',
    'Die Antwort ist auf eine Art gepackt, die hier unbekannt ist: {name}.',
  ],
  ['The answer is compressed more than twice.', 'Die Antwort ist mehr als zweimal gepackt.'],
  [
    'The answer is larger than {oneN} bytes even while compressed.',
    'Die Antwort ist schon gepackt größer als {oneN} Byte.',
  ],
  ['The answer is larger than {oneN} bytes.', 'Die Antwort ist größer als {oneN} Byte.'],
  [
    'The answer grows to more than {oneN} times its size when decompressed.',
    'Die Antwort wird beim Entpacken mehr als {oneN}-mal so groß.',
  ],
  ["The answer's {oneCoding} data ends too early.", 'Die gepackten Daten der Antwort ({oneCoding}) enden zu früh.'],
  [
    'The answer says it is {oneCoding}, but it is not.',
    'Die Antwort gibt sich als {oneCoding} aus, ist es aber nicht.',
  ],
  [
    'The server announces an answer again and again, and sends none.',
    'Der Server kündigt immer wieder eine Antwort an und sendet keine.',
  ],
  ['The answer comes in too many small pieces.', 'Die Antwort kommt in zu vielen kleinen Stücken.'],
  ['The answer did not begin within {oneN} s.', 'Die Antwort begann nicht innerhalb von {oneN} s.'],
  ['The answer was not complete within {oneN} s.', 'Die Antwort war nach {oneN} s nicht vollständig.'],
  [
    'The answer came too slowly: under {oneBytes} bytes in {oneN} s.',
    'Die Antwort kam zu langsam: unter {oneBytes} Byte in {oneN} s.',
  ],
  ['The address is not valid.', 'Die Adresse ist nicht gültig.'],
  ['The address must begin with http:// or https://.', 'Die Adresse muss mit http:// oder https:// beginnen.'],
  [
    'The address must not hold credentials: use a header for them.',
    'Die Adresse darf keine Zugangsdaten enthalten: dafür ist eine Kopfzeile da.',
  ],
  ['Port 0 cannot be reached.', 'Port 0 ist nicht zu erreichen.'],
  ['The port is not valid.', 'Der Port ist nicht gültig.'],
  ['The host name is not valid.', 'Der Hostname ist nicht gültig.'],
  [
    'The server redirects to something that is no address.',
    'Der Server leitet zu etwas weiter, das keine Adresse ist.',
  ],
  [
    'The server redirects to an address that is not http or https: {oneScheme}',
    'Der Server leitet zu einer Adresse weiter, die weder http noch https ist: {oneScheme}',
  ],
  [
    'The server redirects to an address with credentials in it.',
    'Der Server leitet zu einer Adresse weiter, in der Zugangsdaten stehen.',
  ],
  [
    'The server redirects the content of the request to another site.',
    'Der Server leitet den Inhalt der Anfrage an eine andere Site weiter.',
  ],
  ['The server redirects more than {oneN} times.', 'Der Server leitet mehr als {oneN}-mal weiter.'],
];

const pages: readonly Saying[] = [
  ['The page is larger than {oneN} bytes once it is in UTF-8.', 'Die Seite ist in UTF-8 größer als {oneN} Byte.'],
  ['The page could not be decoded: {said}', 'Die Seite ließ sich nicht entziffern: {said}'],
  [
    'The page is not text: the server does not say what it is',
    'sie ist kein Text, und der Server sagt nicht, was sie ist',
  ],
  ['The page is not text: {type}', 'sie ist kein Text, sondern {type}'],
  [
    'The page is in an encoding that browsers refuse to read: {name}',
    'Die Seite hat eine Kodierung, die Browser nicht lesen: {name}',
  ],
  [
    'The server redirects ({status}), and redirects are not followed for this page.',
    'Der Server leitet weiter ({status}), und bei dieser Seite wird dem nicht gefolgt.',
  ],
  [
    'The server answered {status}, which is not among the accepted statuses.',
    'Der Server hat mit {status} geantwortet; dieser Status ist nicht unter denen, die angenommen werden.',
  ],
  [
    'Nearly all sites are out of reach at once, so it is likely the network here and not this site. {said}',
    'Fast alle Sites sind auf einmal nicht zu erreichen: das liegt wohl am Netz hier und nicht an dieser Site. {said}',
  ],
  [
    'Other loads of the same site took too long, so this one could not begin in time.',
    'Andere Abrufe derselben Site haben zu lange gedauert: dieser konnte nicht rechtzeitig beginnen.',
  ],
  [
    '{said} The site failed {oneN} times in a row, so it is spared for another {oneSeconds} s.',
    '{said} Die Site ist {oneN}-mal in Folge gescheitert und wird noch {oneSeconds} s geschont.',
  ],
  [
    '{said} The site asked to be left alone (Retry-After), for another {oneSeconds} s.',
    '{said} Die Site hat gebeten, sie noch {oneSeconds} s in Ruhe zu lassen (Retry-After).',
  ],
  ['This page needs a browser, and there is none here.', 'Diese Seite braucht einen Browser, und hier ist keiner.'],
  [
    'Pages cannot be rendered: the browser that was here is gone (BROWSER).',
    'Seiten lassen sich nicht darstellen: der Browser, der hier war, ist fort (BROWSER).',
  ],
  ['Pages cannot be rendered: {why}', 'Seiten lassen sich nicht darstellen: {why}'],
  ['The browser crashed or hung on this page, twice.', 'Der Browser ist an dieser Seite zweimal gescheitert.'],
  ['The browser could not be started, twice.', 'Der Browser ließ sich zweimal nicht starten.'],
  [
    'Step {oneN} ({step}) failed: it was not there, or could not be used, in time.',
    'Schritt {oneN} ({step}) ist gescheitert: es war nicht rechtzeitig da oder nicht zu bedienen.',
  ],
  [
    'Step {oneN} ({step}) failed: the time of the whole load was over.',
    'Schritt {oneN} ({step}) ist gescheitert: die Zeit für den ganzen Abruf war um.',
  ],
  ['Step {oneN} ({step}) failed: {why}', 'Schritt {oneN} ({step}) ist gescheitert: {why}'],
  ['The address answers with a download.', 'Die Adresse antwortet mit einem Download.'],
  [
    'The browser does not trust the certificate of the site ({oneCode}).',
    'Der Browser traut dem Zertifikat der Site nicht ({oneCode}).',
  ],
  ['The site redirects more than 20 times.', 'Die Site leitet mehr als 20-mal weiter.'],
  ['The site did not answer in time.', 'Die Site hat nicht rechtzeitig geantwortet.'],
  ['The page could not be opened.', 'Die Seite ließ sich nicht öffnen.'],
  ['The page could not be opened ({oneCode}).', 'Die Seite ließ sich nicht öffnen ({oneCode}).'],
  ['The page opened more than {oneN} windows.', 'Die Seite hat mehr als {oneN} Fenster geöffnet.'],
  ['The page crashed in the browser.', 'Die Seite ist im Browser abgestürzt.'],
  ['The page made more than {oneN} requests.', 'Die Seite hat mehr als {oneN} Anfragen gestellt.'],
  ['What is waited for cannot be read: {why}', 'Worauf gewartet wird, ist nicht lesbar: {why}'],
  ['The page never finished loading (waitFor: load).', 'Die Seite war nie fertig geladen (waitFor: load).'],
  [
    'The page never stopped asking its server (waitFor: networkidle).',
    'Die Seite hat nie aufgehört, ihren Server zu fragen (waitFor: networkidle).',
  ],
  ['Nothing came that matches {selector}.', 'Es kam nichts, worauf {selector} passt.'],
  ['waitSeconds is longer than the time that was left.', 'waitSeconds ist länger als die Zeit, die noch übrig war.'],
  [
    'The document is larger than fetch.maxBytes once it is rendered.',
    'Das dargestellte Dokument ist größer als fetch.maxBytes.',
  ],
  [
    'The document is nested too deeply, or has too many elements.',
    'Das Dokument ist zu tief verschachtelt oder hat zu viele Elemente.',
  ],
  ['The page took more memory than it may.', 'Die Seite hat mehr Speicher gebraucht, als sie darf.'],
  ['The page took more {what} than it may.', 'Die Seite hat mehr gebraucht, als sie darf ({what}).'],
  [
    'Two pages together took more memory than one may.',
    'Zwei Seiten zusammen haben mehr Speicher gebraucht, als eine darf.',
  ],
  ['The browser ended.', 'Der Browser hat sich beendet.'],
  ['The load was given up.', 'Der Abruf wurde aufgegeben.'],
  ['The page was not there in time.', 'Die Seite war nicht rechtzeitig da.'],
  [
    'The elements of the page could not all be listed: {said}',
    'Nicht alle Elemente der Seite ließen sich auflisten: {said}',
  ],
];

export const loadingDe: readonly Saying[] = [...network, ...tls, ...answers, ...pages, ...addresses];
