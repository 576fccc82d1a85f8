/** German for what the server says. A code that stands nowhere here is shown in the server's own words. */
import type { Said, Saying } from './said.js';

const notFound: readonly Saying[] = [
  ['There is no such action.', 'Diese Aktion gibt es nicht.'],
  ['There is no such contact.', 'Diesen Kontakt gibt es nicht.'],
  ['There is no such delivery.', 'Diese Zustellung gibt es nicht.'],
  ['There is no such execution.', 'Diesen Lauf gibt es nicht.'],
  ['There is no such invitation.', 'Diese Einladung gibt es nicht, oder sie wurde schon benutzt.'],
  ['There is no such link.', 'Diesen Link gibt es nicht, oder seine Zeit ist um.'],
  ['There is no such member.', 'Dieses Mitglied gibt es nicht.'],
  ['There is no such notification.', 'Diese Aufgabe gibt es nicht.'],
  ['There is no such organisation.', 'Diese Organisation gibt es nicht.'],
  ['There is no such shadow.', 'Diesen Schatten gibt es nicht.'],
];

const addressDenied: readonly Saying[] = [
  [
    'The address points to this machine itself, which is not reachable from here. The operator of this service can allow it with EGRESS_ALLOW.',
    'Die Adresse führt zu dieser Maschine selbst, die von hier nicht erreicht werden darf. Der Betreiber kann es mit EGRESS_ALLOW erlauben.',
  ],
  [
    'The address points to a private address, which is not reachable from here. The operator of this service can allow it with EGRESS_ALLOW.',
    'Die Adresse führt in ein privates Netz, das von hier nicht erreicht werden darf. Der Betreiber kann es mit EGRESS_ALLOW erlauben.',
  ],
  [
    'The address points to a loopback address, which is not reachable from here. The operator of this service can allow it with EGRESS_ALLOW.',
    'Die Adresse führt zu der Maschine selbst, die von hier nicht erreicht werden darf. Der Betreiber kann es mit EGRESS_ALLOW erlauben.',
  ],
  [
    'The address points to {kind}, which is not reachable from here. The operator of this service can allow it with EGRESS_ALLOW.',
    'Die Adresse führt zu einem Ziel ({kind}), das von hier nicht erreicht werden darf. Der Betreiber kann es mit EGRESS_ALLOW erlauben.',
  ],
];

/** Under whichever rule a form refuses its values. */
const invalid: readonly Saying[] = [
  ['must be one of {values}', 'muss eines von {values} sein'],
  ['must not be blank', 'darf nicht leer sein'],
  ['must be one line without control characters', 'muss eine Zeile ohne Steuerzeichen sein'],
  ['must not hold control characters', 'darf keine Steuerzeichen enthalten'],
  [
    'must not have marks that change the direction of text',
    'darf keine Zeichen enthalten, die die Richtung von Text ändern',
  ],
  [
    'must not have control characters but tabs and line breaks',
    'darf an Steuerzeichen nur Tabulatoren und Zeilenumbrüche enthalten',
  ],
  ['must be 1 to 50 of A-Z a-z 0-9 . _ : -', 'muss aus 1 bis 50 Zeichen von A-Z a-z 0-9 . _ : - bestehen'],
  ['must be 1 to 64 of a-z 0-9 -', 'muss aus 1 bis 64 Zeichen von a-z 0-9 - bestehen'],
  ['must be at most 65,536 bytes', 'darf höchstens 65.536 Byte haben'],
  [
    'must be an absolute address such as https://example.com/page',
    'muss eine vollständige Adresse sein, etwa https://example.com/page',
  ],
  [
    'must not hold a user name or password; fetch.auth takes them',
    'darf weder Benutzernamen noch Passwort enthalten; dafür ist fetch.auth da',
  ],
  ['must be an e-mail address', 'muss eine E-Mail-Adresse sein'],
  [
    'must be in plain letters: write s for ſ, K for the Kelvin sign, I for İ, and no letter of full width',
    'muss aus einfachen Buchstaben bestehen: s statt ſ, K statt des Kelvin-Zeichens, I statt İ, und keine in voller Breite',
  ],
  [
    'must be one e-mail address such as name@example.com',
    'muss eine einzelne E-Mail-Adresse sein, etwa name@example.com',
  ],
  ['must be an e-mail address or a list of 1 to 50', 'muss eine E-Mail-Adresse sein oder eine Liste von 1 bis 50'],
  ['must be an address or a range such as 10.0.0.0/8', 'muss eine Adresse oder ein Bereich sein, etwa 10.0.0.0/8'],
  ['must be a zone such as {zone}', 'muss eine Zeitzone sein, etwa {zone}'],
  ['must be a time such as 2026-11-01T08:00:00Z', 'muss ein Zeitpunkt sein, etwa 2026-11-01T08:00:00Z'],
  ['must be a time such as 08:00', 'muss eine Uhrzeit sein, etwa 08:00'],
  ['must be a time such as 18:00', 'muss eine Uhrzeit sein, etwa 18:00'],
  ['must name each day once', 'darf jeden Tag nur einmal nennen'],
  ['must name each scope once', 'darf jedes Recht nur einmal nennen'],
  ['must name each notification once', 'darf jede Aufgabe nur einmal nennen'],
  ['must be 0 or a whole number from 4 to 100', 'muss 0 oder eine ganze Zahl von 4 bis 100 sein'],
  [
    'must differ from `from`; a whole day is 00:00 to 24:00',
    'muss sich von `from` unterscheiden; ein ganzer Tag ist 00:00 bis 24:00',
  ],
  [
    'must leave a minute of the week; `muted` is for sending nothing',
    'muss eine Minute der Woche frei lassen; um nichts zu senden, gibt es `muted`',
  ],
  [
    'must be 0 with every_true, which notifies on every run that is true; space them by cooldownSeconds',
    'muss bei every_true 0 sein, das bei jedem wahren Lauf benachrichtigt; Abstand schafft cooldownSeconds',
  ],
  [
    'must be 0 with changed: a change is over at once, and leaves nothing to remind of',
    'muss bei changed 0 sein: eine Änderung ist sofort vorbei, zu erinnern bleibt nichts',
  ],
  [
    'must be 1 with changed, which knows no recovery; confirmations hold both ways',
    'muss bei changed 1 sein, das keine Erholung kennt; confirmations gilt für beide Richtungen',
  ],
  [
    'must be 0 where afterSeconds is set: what is sent later only if it still holds is not gathered',
    'muss 0 sein, wo afterSeconds gesetzt ist: was erst später gesendet wird, falls es noch gilt, wird nicht gesammelt',
  ],
  [
    'must be a cron of five fields: minute, hour, day, month and weekday (it has {count})',
    'muss ein Cron aus fünf Feldern sein: Minute, Stunde, Tag, Monat und Wochentag (es sind {count})',
  ],
  ['must be a cron of five fields: {problem}', 'muss ein Cron aus fünf Feldern sein: {problem}'],
  [
    'must be a cron of five fields, such as 0 0 * * * instead of @daily',
    'muss ein Cron aus fünf Feldern sein, etwa 0 0 * * * statt @daily',
  ],
  ['is set by this service itself; leave it out', 'setzt dieser Dienst selbst; lassen Sie es weg'],
  ['must not be before from', 'darf nicht vor from liegen'],
  ['must be one line of text', 'muss eine Zeile Text sein'],
  [
    'must be one word of ASCII, as the service shows it',
    'muss ein Wort aus ASCII-Zeichen sein, wie der Dienst es zeigt',
  ],
  [
    'must be the address of a server such as {example}, without credentials or a query',
    'muss die Adresse eines Servers sein, etwa {example}, ohne Zugangsdaten und ohne Abfrage',
  ],
  [
    'must be an address such as {example}, without credentials or a path',
    'muss eine Adresse sein, etwa {example}, ohne Zugangsdaten und ohne Pfad',
  ],
  [
    'must be the address of an ntfy server such as https://ntfy.example.com, without credentials or a query',
    'muss die Adresse eines ntfy-Servers sein, etwa https://ntfy.example.com, ohne Zugangsdaten und ohne Abfrage',
  ],
  ['must be a phone number such as +4915112345678', 'muss eine Telefonnummer sein, etwa +4915112345678'],
  ['must be a topic: 1 to 64 of A-Z a-z 0-9 - _', 'muss ein Thema sein: 1 bis 64 Zeichen von A-Z a-z 0-9 - _'],
  ['must be a token such as tk_…', 'muss ein Token sein, etwa tk_…'],
  [
    'must be a token such as 1234567890:AA…, as @BotFather shows it',
    'muss ein Token sein, etwa 1234567890:AA…, wie @BotFather es zeigt',
  ],
  [
    'must be the address of a webhook such as https://discord.com/api/webhooks/<id>/<token>',
    'muss die Adresse eines Webhooks sein, etwa https://discord.com/api/webhooks/<id>/<token>',
  ],
  [
    'must be the 32 letters and digits of an integration key',
    'muss der Integrationsschlüssel aus 32 Buchstaben und Ziffern sein',
  ],
  ['must be a key of 30 letters and digits', 'muss ein Schlüssel aus 30 Buchstaben und Ziffern sein'],
  ['must be whsec_ and the base64 of 24 to 64 bytes', 'muss aus whsec_ und dem Base64 von 24 bis 64 Byte bestehen'],
  ['must have both user and password, or neither', 'braucht Benutzer und Passwort, oder keines von beiden'],
  [
    'must not be given together with user and password',
    'darf nicht zusammen mit Benutzer und Passwort angegeben werden',
  ],
  ['must not hold a colon', 'darf keinen Doppelpunkt enthalten'],
  ['must be given, or {other} in its place', 'muss angegeben werden, oder an seiner Stelle {other}'],
  ['must be given with {other}', 'muss zusammen mit {other} angegeben werden'],
  ['must be given together with {other}', 'muss zusammen mit {other} angegeben werden'],
  ['must be a certificate as PEM', 'muss ein Zertifikat als PEM sein'],
  ['must be a private key as PEM, without a passphrase', 'muss ein privater Schlüssel als PEM ohne Passphrase sein'],
  ['must be a SHA-256 in hexadecimal', 'muss ein SHA-256 in Hexadezimalziffern sein'],
  ['has none of the allowed forms', 'hat keine der erlaubten Formen'],
  ['is not an allowed name', 'ist kein erlaubter Name'],
  ['is not valid', 'ist nicht gültig'],
];

export const saidDe: Said = {
  thousands: '.',
  subjects: [
    ['The body', 'Die Eingabe'],
    ['The query', 'Die Abfrage'],
  ],
  endings: [
    ['; perhaps {name} is meant', '; gemeint ist vielleicht {name}'],
    ['; there are {names}', '; es gibt {names}'],
  ],
  rules: {
    action_disabled: [
      [
        'The {type} action was disabled at {at}: its receiver answered that it is gone (delivery {id}). Correct its settings and enable it again.',
        'Die Aktion {type} wurde um {at} ausgeschaltet: ihr Empfänger sagt, dass es ihn nicht mehr gibt (Zustellung {id}). Berichtigen Sie ihre Einstellungen und schalten Sie sie wieder ein.',
      ],
      [
        'The {type} action was disabled at {at}: its receiver answered that it is gone (delivery {id}). Correct the contact "{name}" and enable the action again.',
        'Die Aktion {type} wurde um {at} ausgeschaltet: ihr Empfänger sagt, dass es ihn nicht mehr gibt (Zustellung {id}). Berichtigen Sie den Kontakt „{name}“ und schalten Sie die Aktion wieder ein.',
      ],
    ],
    address_denied: addressDenied,
    before_start: 'muss nach startAt liegen',
    command_not_allowed: 'muss ein Programm sein, das der Betreiber in COMMANDS nennt',
    cycle: 'hängt, direkt oder über andere, von dieser Aufgabe selbst ab',
    duplicate: [
      ['stands twice in the list', 'steht zweimal in der Liste'],
      ['is given twice in one object', 'steht zweimal im selben Objekt'],
    ],
    empty: invalid,
    errors_unheard: 'Keine eingeschaltete Aktion sendet, wenn die Prüfung gestört ist: davon erfährt niemand.',
    fixed: [['must stay {name}: actions go by it', 'muss {name} bleiben: Aktionen gehen nach ihm']],
    future: 'muss in der Zukunft liegen',
    invalid,
    never: 'tritt nie ein',
    never_open: 'lassen keinen Termin des Zeitplans übrig',
    nobody_listens: [
      [
        'No action is enabled: runs are recorded and decided, and nobody hears of anything.',
        'Keine Aktion ist eingeschaltet: Läufe werden aufgezeichnet und entschieden, und niemand erfährt davon.',
      ],
    ],
    past: 'muss in der Zukunft liegen',
    required: [
      ['is required', 'fehlt'],
      ['is missing', 'fehlt'],
      ['must not be empty', 'darf nicht leer sein'],
    ],
    secret_required: [
      [
        'is the mask ********, and there is no stored secret to keep: send the secret itself',
        'ist verdeckt (********), und es gibt kein gespeichertes Geheimnis: geben Sie das Geheimnis selbst ein',
      ],
      [
        'is the mask ********, and the list has another length than the stored one: send the secret itself',
        'ist verdeckt (********), und die Liste ist länger oder kürzer als die gespeicherte: geben Sie das Geheimnis selbst ein',
      ],
      [
        'is the mask ********, and the stored secret was given for another origin, proxy, code or protection: send the secret itself',
        'ist verdeckt (********), und das gespeicherte Geheimnis gilt für ein anderes Ziel oder anderen Code: geben Sie das Geheimnis selbst ein',
      ],
    ],
    smtp_not_configured: 'braucht einen Mailserver: der Betreiber setzt SMTP_URL',
    too_few: [
      ['must have at least {n} entry', 'muss mindestens {n} Eintrag haben'],
      ['must have at least {n} entries', 'muss mindestens {n} Einträge haben'],
    ],
    too_large: [
      ['must be at most {n}', 'darf höchstens {n} sein'],
      ['must be less than intervalSeconds ({n})', 'muss kleiner sein als intervalSeconds ({n})'],
      ['makes the notification larger than may be stored', 'macht die Aufgabe größer, als gespeichert werden darf'],
      [
        'makes the notification larger than {most} bytes in all (it has {bytes})',
        'macht die Aufgabe größer als {most} Byte im Ganzen (es sind {bytes})',
      ],
    ],
    too_long: [
      ['must have at most {n} character', 'darf höchstens {n} Zeichen haben'],
      ['must have at most {n} characters', 'darf höchstens {n} Zeichen haben'],
    ],
    too_many: [
      ['must have at most {n} entry', 'darf höchstens {n} Eintrag haben'],
      ['must have at most {n} entries', 'darf höchstens {n} Einträge haben'],
      ['depends on more than {n} notifications', 'hängt von mehr als {n} Aufgaben ab'],
      ['matches more than {n} tasks: narrow it', 'trifft auf mehr als {n} Aufgaben zu: grenzen Sie es ein'],
    ],
    too_short: [
      ['must have at least {n} character', 'muss mindestens {n} Zeichen haben'],
      ['must have at least {n} characters', 'muss mindestens {n} Zeichen haben'],
    ],
    too_small: [
      ['must be at least {n} here', 'muss hier mindestens {n} sein'],
      ['must be at least {n}', 'muss mindestens {n} sein'],
    ],
    unique: [
      ['belongs to a member', 'gehört schon zu einem Mitglied'],
      ['{name} is taken', '{name} ist vergeben'],
    ],
    unknown: [
      ['is not a field', 'ist kein Feld'],
      ['is not a parameter', 'ist kein Parameter'],
      ['is not a notification', 'ist keine Aufgabe'],
      ['is no notification', 'ist keine Aufgabe'],
      ['is not a notification, nor in this file', 'ist keine Aufgabe und steht nicht in dieser Datei'],
      ['is no contact of this organisation', 'ist kein Kontakt dieser Organisation'],
      ['is no revision of this notification', 'ist keine Revision dieser Aufgabe'],
      ['is not an action of this notification', 'ist keine Aktion dieser Aufgabe'],
    ],
    wrong: [
      ['is not the password of this account', 'ist nicht das Passwort dieses Kontos'],
      ['is wrong, or was used before', 'ist falsch oder wurde schon benutzt'],
    ],
    wrong_type: [
      ['must be a string', 'muss ein Text sein'],
      ['must be a whole number', 'muss eine ganze Zahl sein'],
      ['must be a number', 'muss eine Zahl sein'],
      ['must be true or false', 'muss true oder false sein'],
      ['must be a list', 'muss eine Liste sein'],
      ['must be an object', 'muss ein Objekt sein'],
      ['must be null', 'muss null sein'],
    ],
  },
  reasons: {
    address_denied: addressDenied,
    address_not_allowed: 'Dieser API-Schlüssel darf von dieser Adresse aus nicht benutzt werden: siehe allowedCidrs.',
    already_exists: [
      ['There is a member with this e-mail address.', 'Es gibt schon ein Mitglied mit dieser E-Mail-Adresse.'],
      ['Another contact has this name.', 'Ein anderer Kontakt hat schon diesen Namen.'],
      ['Another notification has this externalKey.', 'Eine andere Aufgabe hat schon diesen externalKey.'],
    ],
    already_set_up: 'Diese Instanz ist schon eingerichtet: melden Sie sich an.',
    apply_busy: 'Eine andere Konfigurationsdatei wird gerade übernommen; versuchen Sie es gleich noch einmal.',
    apply_incomplete: 'Nicht alles in der Datei ließ sich schreiben; was fehlt, steht in keiner Liste.',
    apply_under_way: 'Die Datei ist angenommen, aber noch nicht ganz geschrieben; das geht von selbst weiter.',
    backtests_busy: 'Es laufen viele Beurteilungen; versuchen Sie es gleich noch einmal.',
    body_too_large: 'Die Eingabe ist größer als 1 MiB, oder als 16 KiB, wo kein Schlüssel nötig ist.',
    dependencies_busy:
      'Abhängigkeiten anderer Aufgaben werden gerade gespeichert; versuchen Sie es gleich noch einmal.',
    delivery_folded: 'Diese Zustellung gehört zu einem zusammengefassten Tag: was sie sagte, ist fort.',
    event_store_unavailable: 'Der Speicher der Ereignisse antwortet nicht; versuchen Sie es gleich noch einmal.',
    expires_in_past: 'Der Schlüssel wäre von Anfang an abgelaufen.',
    foreign_origin: 'Diese Anfrage kommt von einer Seite unter einer anderen Adresse.',
    in_use: [['Actions of {count} notifications go to {name}.', 'Aktionen von {count} Aufgaben gehen an {name}.']],
    internal_error: 'Auf unserer Seite ist etwas schiefgegangen. Es steht unter der Kennung der Anfrage im Protokoll.',
    invalid_setup_token: 'Das Einrichtungs-Token ist falsch: nehmen Sie den Link, der beim Start ausgegeben wird.',
    key_expired: [
      ['This API key has expired.', 'Dieser API-Schlüssel ist abgelaufen.'],
      ['The key has expired: make a new one.', 'Der Schlüssel ist abgelaufen: legen Sie einen neuen an.'],
    ],
    key_rotated: 'An die Stelle dieses Schlüssels ist schon ein anderer getreten.',
    last_operator: 'Die Instanz behält einen Betreiber: machen Sie zuerst jemand anderen dazu.',
    last_owner: 'Eine Organisation behält einen Inhaber: machen Sie zuerst jemand anderen dazu.',
    missing_scope: [
      [
        'This needs the scope {scope}, which this API key, or your role, does not have.',
        'Dafür braucht es das Recht {scope}, das dieser API-Schlüssel oder Ihre Rolle nicht hat.',
      ],
      [
        'Only an operator may see a key with the scope operator.',
        'Nur ein Betreiber darf einen Schlüssel mit dem Recht operator sehen.',
      ],
      [
        'Only an operator may have another key with the scope operator.',
        'Nur ein Betreiber darf einen weiteren Schlüssel mit dem Recht operator haben.',
      ],
    ],
    no_copy: 'Von diesem Schlüssel gibt es keine Kopie: erneuern Sie ihn, um einen zu haben, den Sie kennen.',
    no_member: 'Sie sind hier kein Mitglied: bitten Sie einen Verwalter um eine Einladung, und öffnen Sie deren Link.',
    no_password: 'Dieses Konto hat kein Passwort: setzen Sie zuerst eines über einen Link für ein neues Passwort.',
    no_screenshot:
      'Von diesem Lauf gibt es kein Bild: kein Browser hat die Seite dargestellt, fetch.browser.screenshot ließ es aus, oder es wird nicht mehr aufbewahrt.',
    not_found: notFound,
    not_set_up: 'Diese Instanz hat noch keine Organisation: richten Sie sie zuerst ein.',
    nothing_open: 'Hier ist nichts offen: die Aufgabe ist weder erfüllt noch gestört.',
    owner_required: [
      [
        'Only an owner may make an owner, or change or remove one.',
        'Nur ein Inhaber darf jemanden zum Inhaber machen, einen Inhaber ändern oder entfernen.',
      ],
      ['Only an owner may see a key again.', 'Nur ein Inhaber darf einen Schlüssel noch einmal sehen.'],
    ],
    provider_refused: 'Der Anmeldedienst hat Sie nicht angemeldet; beginnen Sie noch einmal.',
    purge_under_way: 'Die Inhalte werden gerade gelöscht; das geht von selbst weiter und ist noch nicht fertig.',
    purged: 'Die Inhalte dieser Aufgabe sind endgültig fort.',
    rate_limited: [
      [
        'The budget of {n} requests per hour is used up.',
        'Das Budget von {n} Anfragen in der Stunde ist aufgebraucht.',
      ],
      [
        'The budget of {n} requests per hour does not reach so far.',
        'Das Budget von {n} Anfragen in der Stunde reicht dafür nicht.',
      ],
    ],
    read_store_unavailable: [
      ['The read store does not answer.', 'Der Speicher der Ansichten antwortet nicht; gleich noch einmal versuchen.'],
      [
        'The read store could not be written.',
        'In den Speicher der Ansichten ließ sich nicht schreiben; gleich noch einmal versuchen.',
      ],
    ],
    reveal_disabled:
      'Schlüssel werden hier nur einmal gezeigt (KEYS_SHOW_ONCE): erneuern Sie den Schlüssel stattdessen.',
    sandbox_unavailable: 'Der Code lässt sich gerade nicht prüfen; versuchen Sie es noch einmal.',
    second_factor_off: 'Es wurde kein zweiter Faktor begonnen: beginnen Sie zuerst einen.',
    second_factor_on: 'Ein zweiter Faktor ist eingeschaltet: schalten Sie ihn zuerst aus.',
    second_factor_required: 'Geben Sie auch den Code an: den der App oder einen Wiederherstellungscode.',
    session_ended: 'Die Sitzung ist zu Ende; melden Sie sich an.',
    session_required: 'Das ist für Menschen, die angemeldet sind, nicht für API-Schlüssel.',
    shutting_down: 'Der Server wird gerade angehalten; versuchen Sie es gleich noch einmal.',
    sign_in_expired:
      'Diese Anmeldung wurde nicht in diesem Browser begonnen, oder vor langer Zeit; beginnen Sie noch einmal.',
    snapshot_gone: 'Die Seite dieses Laufs wird nicht mehr aufbewahrt, oder es gab nie eine.',
    stale_revision: [
      [
        'The revision is {now}, not {expected}: read it again and repeat.',
        'Die Revision ist {now}, nicht {expected}: laden Sie neu und wiederholen Sie es.',
      ],
    ],
    tests_busy: 'Es laufen viele Proben; versuchen Sie es gleich noch einmal.',
    too_many_attempts: 'Zu viele falsche Passwörter oder Codes; versuchen Sie es später noch einmal.',
    too_many_backtests: 'Eine Beurteilung läuft; versuchen Sie es noch einmal, wenn sie zu Ende ist.',
    too_many_runs_waiting: [
      [
        '{n} runs of this notification are waiting already; try again once they are done.',
        'Es warten schon {n} Läufe dieser Aufgabe; versuchen Sie es noch einmal, wenn sie fertig sind.',
      ],
    ],
    too_many_sign_ins: 'Zu viele Anmeldungen auf einmal; versuchen Sie es gleich noch einmal.',
    too_many_tests: [
      [
        '{n} tests are running; try again when one of them has ended.',
        'Es laufen {n} Proben; versuchen Sie es noch einmal, wenn eine davon zu Ende ist.',
      ],
    ],
    too_many_writers: 'Andere ändern dies gerade auch; versuchen Sie es gleich noch einmal.',
    unknown_path: 'Unter diesem Pfad gibt es nichts.',
    unreadable: [['The server answered {status}.', 'Der Server hat mit {status} geantwortet.']],
    verification_running: 'Eine andere Prüfung läuft; fragen Sie noch einmal, wenn sie fertig ist.',
    view_behind: 'Was eben geschrieben wurde, ist noch nicht überall zu lesen; versuchen Sie es gleich noch einmal.',
    views_being_built: 'Nach einer Aktualisierung werden die Ansichten neu gebaut; versuchen Sie es bald noch einmal.',
    wrong_code: 'Der Code ist falsch oder wurde schon benutzt.',
    wrong_credentials: 'E-Mail, Passwort oder Code ist falsch.',
    wrong_password: [['{field} is not the password of this account.', '{field} ist nicht das Passwort dieses Kontos.']],
  },
};
