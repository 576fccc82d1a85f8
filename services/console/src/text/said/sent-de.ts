/** German for what became of messages: why they were not sent, and what receivers answered. */
import type { Saying } from './said.js';
import type { deliveryReasonsEn } from './sent-en.js';

/** Why a delivery ended as it did, by its code. */
export const deliveryReasonsDe: Readonly<Record<string, string>> = {
  aborted: 'Der Versuch wurde abgebrochen.',
  acknowledged: 'Jemand hat es bestätigt, bevor gesendet wurde.',
  action_disabled: 'Die Aktion ist ausgeschaltet oder gelöscht.',
  address_denied: 'Dorthin geht diese Instanz nicht.',
  address_invalid: 'Mit den Werten ist die Adresse nicht gültig.',
  archived: 'Die Aufgabe wurde gelöscht.',
  bad_encoding: 'Die Antwort des Empfängers ist nicht zu entziffern.',
  config_invalid: 'Die Einstellungen der Aktion sind nicht zu gebrauchen: speichern Sie sie neu.',
  connect_failed: 'Dort antwortet niemand.',
  connection_lost: 'Die Verbindung ist abgebrochen.',
  custom_result_invalid: 'Der Code gab keine Anfrage zurück, die sich senden lässt.',
  dns_failed: 'Der Name führt nirgendwohin.',
  expired: 'Die Zeit der Nachricht ist um.',
  failed: 'Der Versuch ist gescheitert.',
  gone: 'Den Empfänger gibt es nicht mehr; die Aktion wurde ausgeschaltet.',
  header_invalid: 'Eine Kopfzeile enthält Zeichen, die HTTP nicht erlaubt.',
  http_status: 'Der Empfänger hat mit einem Fehler geantwortet.',
  in_digest: 'Sie steht in einer Sammelnachricht.',
  invalid_url: 'Die Adresse ist nicht gültig.',
  mail_policy: 'Die Regeln des Mailservers lassen diese Nachricht nicht zu.',
  mail_too_large: 'Die Nachricht ist dem Mailserver zu groß.',
  mailbox_full: 'Das Postfach ist voll.',
  mailbox_gone: 'Dieses Postfach gibt es nicht, oder nicht mehr.',
  not_told: 'Was vorbei ist, war an diesen Empfänger nie gegangen.',
  nothing_to_close: 'Zu dieser Episode fand sich kein Vorgang, der zu schließen wäre.',
  nothing_closes_it: 'Der Vorgang hat den Kommentar und bleibt offen: Er hat keinen Übergang, der ihn schließt.',
  over: 'Es war schon vorbei, als gesendet werden sollte.',
  paused: 'Die Aufgabe ist pausiert.',
  program_deferred: 'Das Programm konnte die Nachricht noch nicht annehmen.',
  program_failed: 'Das Programm ist gescheitert.',
  receiver_deferred: 'Der Empfänger konnte die Nachricht noch nicht annehmen.',
  redirected: 'Der Empfänger leitet weiter, und dem wird nicht gefolgt.',
  refused_by_receiver: 'Der Empfänger hat die Nachricht abgelehnt.',
  secret_required: 'Dafür braucht es die Adresse selbst, nicht ihre Maske.',
  smtp_deferred: 'Der Mailserver konnte die Nachricht noch nicht annehmen.',
  smtp_not_configured: 'Es ist kein Mailserver eingestellt: der Betreiber setzt SMTP_URL.',
  smtp_refused: 'Der Mailserver hat die Nachricht abgelehnt.',
  syntax_error: 'Der Code ist nicht lesbar.',
  template_failed: 'Die Vorlage ist fehlerhaft.',
  template_timed_out: 'Die Vorlage brauchte zu lange.',
  timed_out: 'Der Empfänger hat nicht rechtzeitig geantwortet.',
  tls_failed: 'Eine sichere Verbindung (TLS) kam nicht zustande.',
  too_large: 'Die Nachricht ist zu groß.',
  unexpected_answer: 'Die Antwort ist nicht die des Dienstes.',
  unsubscribed: 'Alle Empfänger haben sich abgemeldet.',
} satisfies Readonly<Record<keyof typeof deliveryReasonsEn, string>>;

const attempts: readonly Saying[] = [
  [
    '{said} This message is not tried again for {oneN} d.',
    '{said} Diese Nachricht wird frühestens nach {oneN} Tagen wieder versucht.',
  ],
  [
    '{said} This message is not tried again for {oneN} h.',
    '{said} Diese Nachricht wird frühestens nach {oneN} h wieder versucht.',
  ],
  [
    '{said} This message is not tried again for {oneN} min.',
    '{said} Diese Nachricht wird frühestens nach {oneN} min wieder versucht.',
  ],
  [
    '{said} This message is not tried again for {oneN} s.',
    '{said} Diese Nachricht wird frühestens nach {oneN} s wieder versucht.',
  ],
  [
    'An earlier try was refused for a {oneWhat} ({oneN} of {oneAll} {oneParts} have it).',
    'Ein früherer Versuch wurde zum Teil abgelehnt ({oneN} von {oneAll} sind angekommen).',
  ],
  ['An earlier try was refused for a {oneWhat}.', 'Ein früherer Versuch wurde abgelehnt.'],
  ['{said} ({oneN} of {oneAll} {oneParts} have it)', '{said} ({oneN} von {oneAll} sind angekommen)'],
  ['{said} The action was disabled.', '{said} Die Aktion wurde ausgeschaltet.'],
  [
    'The service stopped between sending and writing down the answer: nobody knows whether this try arrived.',
    'Der Dienst wurde zwischen dem Senden und dem Festhalten der Antwort angehalten: niemand weiß, ob dieser Versuch ankam.',
  ],
  [
    'No mail server is set; the operator has to set SMTP_URL.',
    'Es ist kein Mailserver eingestellt; der Betreiber setzt SMTP_URL.',
  ],
  ['Every recipient has unsubscribed.', 'Alle Empfänger haben sich abgemeldet.'],
  [
    'The settings of the action cannot be used; save it again.',
    'Die Einstellungen der Aktion sind nicht zu gebrauchen; speichern Sie sie neu.',
  ],
  ['The template could not be used: it {why}.', 'Die Vorlage ließ sich nicht verwenden ({why}).'],
  ['Line {oneLine}, column {oneColumn}: {said}', 'Zeile {oneLine}, Spalte {oneColumn}: {said}'],
  ['Line {oneLine}: {said}', 'Zeile {oneLine}: {said}'],
  ['The values in the address lead to another host.', 'Mit den Werten führt die Adresse zu einem anderen Host.'],
  [
    'The header {oneName} holds characters that HTTP does not allow; use ASCII.',
    'Die Kopfzeile {oneName} enthält Zeichen, die HTTP nicht erlaubt; nehmen Sie ASCII.',
  ],
  [
    'The header {oneName} the code returned holds characters that HTTP does not allow; use ASCII.',
    'Die Kopfzeile {oneName}, die der Code zurückgab, enthält Zeichen, die HTTP nicht erlaubt; nehmen Sie ASCII.',
  ],
  [
    'The code has to return { url, method, headers, body }, or a list of 1 to {oneN}: it returned something else.',
    'Der Code muss { url, method, headers, body } zurückgeben, oder eine Liste von 1 bis {oneN}: er gab etwas anderes zurück.',
  ],
  [
    'The code has to return { url, method, headers, body }, or a list of 1 to {oneN}: {fault}.',
    'Der Code muss { url, method, headers, body } zurückgeben, oder eine Liste von 1 bis {oneN}: {fault}.',
  ],
  [
    'A body the code returned is longer than {oneN} bytes.',
    'Ein Inhalt, den der Code zurückgab, ist länger als {oneN} Byte.',
  ],
  [
    'No issue of this episode was found in the project, so there is none to close.',
    'Im Projekt fand sich kein Vorgang zu dieser Episode, also ist keiner zu schließen.',
  ],
  [
    'The issue has the comment and stays open: no transition of it leads into a status of the category done. Set closeTransition to one that it has: {names}.',
    'Der Vorgang hat den Kommentar und bleibt offen: Kein Übergang führt in einen Status der Kategorie „done“. Setzen Sie closeTransition auf einen, den er hat: {names}.',
  ],
  [
    'The issue has the comment and stays open: it has no transition “{name}”. Set closeTransition to one that it has: {names}.',
    'Der Vorgang hat den Kommentar und bleibt offen: Er hat keinen Übergang „{name}“. Setzen Sie closeTransition auf einen, den er hat: {names}.',
  ],
  [
    'No issue of this episode was found in the repository, so there is none to close.',
    'Im Repository fand sich kein Issue zu dieser Episode, also ist keines zu schließen.',
  ],
];

const peers: readonly Saying[] = [
  ['The program could not be started ({oneCode}).', 'Das Programm ließ sich nicht starten ({oneCode}).'],
  ['The program did not end in time.', 'Das Programm kam nicht rechtzeitig zum Ende.'],
  ['The program ended with {oneCode}.', 'Das Programm endete mit {oneCode}.'],
  [
    'The operator does not let actions run this program: COMMANDS does not name it.',
    'Der Betreiber lässt dieses Programm nicht zu: COMMANDS nennt es nicht.',
  ],
  ['The service was stopped before the program ended.', 'Der Dienst wurde angehalten, bevor das Programm zu Ende war.'],
  ['The service was stopped before the broker answered.', 'Der Dienst wurde angehalten, bevor der Broker antwortete.'],
  [
    'The service was stopped before the message was sent.',
    'Der Dienst wurde angehalten, bevor die Nachricht gesendet war.',
  ],
  ['The broker did not answer in time.', 'Der Broker hat nicht rechtzeitig geantwortet.'],
  ['The connection to the broker broke.', 'Die Verbindung zum Broker ist abgebrochen.'],
  [
    'The broker closed the connection before it answered.',
    'Der Broker hat die Verbindung geschlossen, bevor er antwortete.',
  ],
  ['The broker did not take the message.', 'Der Broker hat die Nachricht nicht angenommen.'],
  ['The broker refused the message.', 'Der Broker hat die Nachricht abgelehnt.'],
  [
    'The broker answered {oneCode}: it cannot take the message now.',
    'Der Broker hat mit {oneCode} geantwortet: er kann die Nachricht jetzt nicht annehmen.',
  ],
  [
    'The broker answered {oneCode}: it does not take this message.',
    'Der Broker hat mit {oneCode} geantwortet: diese Nachricht nimmt er nicht an.',
  ],
  [
    'The broker answered {oneCode}: {said}. The action was disabled.',
    'Der Broker hat mit {oneCode} geantwortet: {said}. Die Aktion wurde ausgeschaltet.',
  ],
  ['set `version` to one that it speaks', 'setzen Sie `version` auf eine, die er spricht'],
  ['check username, password and what they may do', 'prüfen Sie username, password und was sie dürfen'],
  ['The broker {said}.', 'Der Broker {said}.'],
  ['The receiver broke the connection.', 'Der Empfänger hat die Verbindung abgebrochen.'],
  ['The receiver did not take the message in time.', 'Der Empfänger hat die Nachricht nicht rechtzeitig angenommen.'],
  ['The receiver {said}.', 'Der Empfänger {said}.'],
  [
    'wants a client certificate: set clientCertificate and clientKey',
    'verlangt ein Client-Zertifikat: setzen Sie clientCertificate und clientKey',
  ],
  [
    'refused the secure connection: it may want a client certificate (clientCertificate, clientKey)',
    'hat die sichere Verbindung abgelehnt: vielleicht verlangt er ein Client-Zertifikat (clientCertificate, clientKey)',
  ],
  ['refused the client certificate', 'hat das Client-Zertifikat abgelehnt'],
  ['does not know the client certificate', 'kennt das Client-Zertifikat nicht'],
  ['says that the client certificate has expired', 'sagt, dass das Client-Zertifikat abgelaufen ist'],
  ['says that the client certificate was revoked', 'sagt, dass das Client-Zertifikat widerrufen wurde'],
  [
    'does not trust the authority of the client certificate',
    'traut der Zertifizierungsstelle des Client-Zertifikats nicht',
  ],
  ['does not let the client certificate in', 'lässt das Client-Zertifikat nicht ein'],
];

const receivers: readonly Saying[] = [
  [
    'The mail server refused the login; the operator has to check SMTP_URL.',
    'Der Mailserver hat die Anmeldung abgelehnt; der Betreiber prüft SMTP_URL.',
  ],
  [
    'The mail server refused the login; the operator has to check SMTP_URL. It answered {answer}.',
    'Der Mailserver hat die Anmeldung abgelehnt; der Betreiber prüft SMTP_URL. Geantwortet hat er {answer}.',
  ],
  ['The mail server answered {answer}.', 'Der Mailserver hat geantwortet: {answer}.'],
  [
    'The receiver answered 410: it is gone for good, and the action was disabled.',
    'Der Empfänger hat mit 410 geantwortet: es gibt ihn nicht mehr, und die Aktion wurde ausgeschaltet.',
  ],
  [
    'The receiver answered {oneStatus}: redirects are not followed. Set the final address.',
    'Der Empfänger hat mit {oneStatus} geantwortet: Weiterleitungen wird nicht gefolgt. Setzen Sie die endgültige Adresse.',
  ],
  [
    'The receiver answered {oneStatus}, but not as Discord does.',
    'Der Empfänger hat mit {oneStatus} geantwortet, aber nicht wie Discord.',
  ],
  [
    'The receiver answered {oneStatus}, but not as an ntfy server does: check serverUrl.',
    'Der Empfänger hat mit {oneStatus} geantwortet, aber nicht wie ein ntfy-Server: prüfen Sie serverUrl.',
  ],
  ['The receiver answered {oneStatus}.', 'Der Empfänger hat mit {oneStatus} geantwortet.'],
  [
    'Discord answered {oneStatus}: the webhook is gone, and the action was disabled.',
    'Discord hat mit {oneStatus} geantwortet: den Webhook gibt es nicht mehr, und die Aktion wurde ausgeschaltet.',
  ],
  [
    'ntfy answered {oneStatus}: it does not let this action publish, which was disabled.',
    'ntfy hat mit {oneStatus} geantwortet: es lässt diese Aktion nicht senden, und sie wurde ausgeschaltet.',
  ],
  [
    '{vendor} answered {oneStatus} ({oneCode}), but not as {again} does: check the address.',
    '{vendor} hat mit {oneStatus} ({oneCode}) geantwortet, aber nicht, wie es {vendor} tut: prüfen Sie die Adresse.',
  ],
  [
    '{vendor} answered {oneStatus}, but not as {again} does: check the address.',
    '{vendor} hat mit {oneStatus} geantwortet, aber nicht, wie es {vendor} tut: prüfen Sie die Adresse.',
  ],
  ['{vendor} answered {oneStatus} ({code}).', '{vendor} hat mit {oneStatus} ({code}) geantwortet.'],
  ['{vendor} answered {oneStatus} ({code}): {said}.', '{vendor} hat mit {oneStatus} ({code}) geantwortet: {said}.'],
  ['{vendor} answered {oneStatus}: {said}.', '{vendor} hat mit {oneStatus} geantwortet: {said}.'],
  ['{vendor} answered {oneStatus}.', '{vendor} hat mit {oneStatus} geantwortet.'],
];

/** What a vendor's answer is about, and what to do. */
const because: readonly Saying[] = [
  [
    'the server has no services under this key, or knows none of these addresses',
    'der Server hat unter diesem Schlüssel keine Dienste oder kennt keine dieser Adressen',
  ],
  ['the server does not let this action send', 'der Server lässt diese Aktion nicht senden'],
  [
    'at least one service behind it failed, or none has the tag',
    'mindestens ein Dienst dahinter ist gescheitert, oder keiner hat den Tag',
  ],
  ['set the clock of this instance', 'stellen Sie die Uhr dieser Instanz'],
  [
    'the key may not publish to the topic, or the topic is gone',
    'der Schlüssel darf in diesem Topic nicht veröffentlichen, oder es gibt das Topic nicht mehr',
  ],
  ['the robot or its group is gone', 'den Roboter oder seine Gruppe gibt es nicht mehr'],
  [
    'the robot takes no messages from the address of this instance',
    'der Roboter nimmt von der Adresse dieser Instanz keine Nachrichten an',
  ],
  [
    'check signingSecret, keyword and the clock of this instance',
    'prüfen Sie signingSecret, keyword und die Uhr dieser Instanz',
  ],
  ['the bot was removed', 'der Bot wurde entfernt'],
  [
    'the bot takes no messages from the address of this instance',
    'der Bot nimmt von der Adresse dieser Instanz keine Nachrichten an',
  ],
  ['check signingSecret, and the clock of this instance', 'prüfen Sie signingSecret und die Uhr dieser Instanz'],
  ['set keyword to the word that the bot demands', 'setzen Sie keyword auf das Wort, das der Bot verlangt'],
  [
    'the repository was renamed; set repository to its new name',
    'das Repository wurde umbenannt; setzen Sie repository auf den neuen Namen',
  ],
  [
    'the conversation of the issue is locked; unlock it, or open another one',
    'die Unterhaltung des Issues ist gesperrt; entsperren Sie sie, oder öffnen Sie ein anderes',
  ],
  [
    'the token may not write issues there, or the repository has none',
    'das Token darf dort keine Issues schreiben, oder das Repository hat keine',
  ],
  ['the webhook or its space was removed', 'der Webhook oder sein Bereich wurde entfernt'],
  ['the token is not that of an application', 'das Token gehört zu keiner Anwendung'],
  ['there is no such integration', 'diese Integration gibt es nicht'],
  ['the token is not valid', 'das Token ist nicht gültig'],
  ['the instance has banned the address of this one', 'die Instanz hat die Adresse dieser Instanz gesperrt'],
  ['there is no such service, or it takes other data', 'diesen Dienst gibt es nicht, oder er nimmt andere Daten'],
  ['the token or the alert source is not valid', 'das Token oder die Alarmquelle ist nicht gültig'],
  [
    'the token is not valid, or may not do this in the project',
    'das Token ist nicht gültig oder darf das in diesem Projekt nicht',
  ],
  [
    'check projectKey and issueType, and which fields the project demands',
    'prüfen Sie projectKey und issueType, und welche Felder das Projekt verlangt',
  ],
  ['the messages of this month are used up', 'die Nachrichten dieses Monats sind aufgebraucht'],
  ['the pushes of this month are used up', 'die Nachrichten dieses Monats sind aufgebraucht'],
  ['let the account join the room and write there', 'lassen Sie das Konto den Raum betreten und dort schreiben'],
  ['there is no such webhook', 'diesen Webhook gibt es nicht'],
  ['the server takes no webhooks', 'der Server nimmt keine Webhooks an'],
  ['the webhook may not post there', 'der Webhook darf dort nicht schreiben'],
  ['the bot may not post there', 'der Bot darf dort nicht schreiben'],
  [
    'the workflow is switched off or was deleted; a new one has another address',
    'der Workflow ist ausgeschaltet oder gelöscht; ein neuer hat eine andere Adresse',
  ],
  ['the address is not whole, or not open to anyone', 'die Adresse ist nicht vollständig oder nicht für alle offen'],
  [
    'check the key, its region and the plan of the account',
    'prüfen Sie den Schlüssel, seine Region und den Tarif des Kontos',
  ],
  ['the integration key is not valid', 'der Integrationsschlüssel ist nicht gültig'],
  ['the key is not valid', 'der Schlüssel ist nicht gültig'],
  ['where this stays, the integration is switched off', 'wenn das so bleibt, ist die Integration ausgeschaltet'],
  [
    'Signal wants a captcha to be solved for the number',
    'Signal verlangt für diese Nummer, dass ein Captcha gelöst wird',
  ],
  ['the number that sends is not registered', 'die Nummer, die sendet, ist nicht angemeldet'],
  ['the webhook or the token is not valid any more', 'der Webhook oder das Token ist nicht mehr gültig'],
  ['the channel of the webhook was deleted', 'der Kanal des Webhooks wurde gelöscht'],
  [
    'invite the bot to the channel that `channelId` names, and let it post there',
    'laden Sie den Bot in den Kanal ein, den `channelId` nennt, und lassen Sie ihn dort schreiben',
  ],
  [
    'the group has become a supergroup; set chatId to {id}',
    'die Gruppe ist eine Supergruppe geworden; setzen Sie chatId auf {id}',
  ],
  [
    'the token is not valid, or the bot may not write to the chat',
    'das Token ist nicht gültig, oder der Bot darf in den Chat nicht schreiben',
  ],
  ['the receiver has opted out (STOP)', 'der Empfänger hat sich abgemeldet (STOP)'],
  ['the account does not let this action send', 'das Konto lässt diese Aktion nicht senden'],
  [
    'the account does not let this action send, or has no credit',
    'das Konto lässt diese Aktion nicht senden oder hat kein Guthaben',
  ],
  [
    'the token is not valid, or the bot is not in the space',
    'das Token ist nicht gültig, oder der Bot ist nicht im Bereich',
  ],
  ['WhatsApp holds back more messages to this person', 'WhatsApp hält weitere Nachrichten an diese Person zurück'],
  ['token, account, payment or template is not good any more', 'Token, Konto, Zahlung oder Vorlage gelten nicht mehr'],
  ['outside of 24 hours only approved templates are sent', 'nach 24 Stunden werden nur genehmigte Vorlagen gesendet'],
  ['the key or the bot is not valid any more', 'der Schlüssel oder der Bot ist nicht mehr gültig'],
  [
    'there is no such channel, or the bot may not see it',
    'diesen Kanal gibt es nicht, oder der Bot darf ihn nicht sehen',
  ],
];

export const sentDe: readonly Saying[] = [...attempts, ...peers, ...receivers, ...because];
