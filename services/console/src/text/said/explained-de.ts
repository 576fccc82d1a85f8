/** German for what the service says of a decision, and of a moment without a run. Times stay as the server writes them: they are shown by the clock of the reader. */
import type { Saying } from './said.js';

const rules: readonly Saying[] = [
  ['The run failed: {said}', 'Der Lauf ist gescheitert: {said}'],
  [
    'The page was read and the code answered {oneOutcome}.',
    'Die Seite wurde gelesen, und der Code hat mit {oneOutcome} geantwortet.',
  ],
  [
    'The page was read and the code answered {oneOutcome}, with the value {value}.',
    'Die Seite wurde gelesen, und der Code hat mit {oneOutcome} geantwortet, mit dem Wert {value}.',
  ],
  [
    'This instance refuses what the run needs, and trying again changes nothing: health becomes `blocked` at once.',
    'Diese Instanz verweigert, was der Lauf braucht, und ein neuer Versuch ändert nichts: die Prüfung gilt sofort als blockiert.',
  ],
  [
    'This instance refuses what the run needs, and trying again changes nothing: health becomes `blocked` at once: too few yet.',
    'Diese Instanz verweigert, was der Lauf braucht, und ein neuer Versuch ändert nichts: die Prüfung gilt sofort als blockiert. Es sind noch zu wenige.',
  ],
  [
    '1 failed run in a row, and health becomes `error` at {oneN}.',
    'Ein gescheiterter Lauf; ab {oneN} in Folge gilt die Prüfung als gestört.',
  ],
  [
    '{oneRuns} failed runs in a row, and health becomes `error` at {oneN}.',
    '{oneRuns} gescheiterte Läufe in Folge; ab {oneN} gilt die Prüfung als gestört.',
  ],
  [
    '1 failed run in a row, and health becomes `error` at {oneN}: too few yet.',
    'Erst ein gescheiterter Lauf; ab {oneN} in Folge gilt die Prüfung als gestört.',
  ],
  [
    '{oneRuns} failed runs in a row, and health becomes `error` at {oneN}: too few yet.',
    'Erst {oneRuns} gescheiterte Läufe in Folge; ab {oneN} gilt die Prüfung als gestört.',
  ],
  [
    'The network on this side is down, which says nothing of the page: it counts as an error from 15 minutes on.',
    'Das Netz auf dieser Seite ist ausgefallen, was nichts über die Seite sagt: als Fehler gilt es ab 15 Minuten.',
  ],
  [
    'At least {oneN} runs in a row had to be ended from outside: health becomes `error` at once.',
    'Mindestens {oneN} Läufe in Folge mussten von außen beendet werden: die Prüfung gilt sofort als gestört.',
  ],
  ['This error had not been told yet.', 'Dieser Fehler war noch nicht gemeldet.'],
  [
    'The task could not be checked before: that is told once, not at every failed run.',
    'Die Aufgabe ließ sich schon vorher nicht prüfen: das wird einmal gemeldet, nicht bei jedem gescheiterten Lauf.',
  ],
  [
    'The task could not be checked before. No enabled action listens to errors (`on`): nobody could be told.',
    'Die Aufgabe ließ sich schon vorher nicht prüfen. Keine aktive Aktion hört auf Fehler (`on`): niemand war zu benachrichtigen.',
  ],
  [
    'The last message had told an error already, and its end was never told.',
    'Die letzte Nachricht hat schon einen Fehler gemeldet, und sein Ende wurde nie gemeldet.',
  ],
  [
    'Health was `{oneState}` before: that the task cannot be checked is told once.',
    'Der Zustand war schon `{oneState}`: dass sich die Aufgabe nicht prüfen lässt, wird einmal gemeldet.',
  ],
  ['One outcome is enough.', 'Ein Ergebnis genügt.'],
  ['One outcome is enough here: nothing else has been told.', 'Ein Ergebnis genügt hier: anderes ist nicht gemeldet.'],
  [
    'The condition was `{oneState}` already: nothing is to be confirmed.',
    'Die Bedingung war schon `{oneState}`: zu bestätigen ist nichts.',
  ],
  [
    '{oneField} asks for {oneN} in a row, and there were as many.',
    '{oneField} verlangt {oneN} in Folge, und so viele waren es.',
  ],
  [
    '{oneField} asks for {oneN} in a row; this was number {oneCount}.',
    '{oneField} verlangt {oneN} in Folge; dies war Nummer {oneCount}.',
  ],
  [
    'It was true before, and no enabled action listens to that (`on`): nobody could be told.',
    'Es war schon vorher wahr, und keine aktive Aktion hört darauf (`on`): niemand war zu benachrichtigen.',
  ],
  [
    'It was true before and has been told, and somebody has acknowledged it: nothing more is sent until it ends or the time of that is over.',
    'Es war schon vorher wahr und ist gemeldet, und jemand hat es bestätigt: mehr wird nicht gesendet, bis es vorbei oder die Zeit dafür um ist.',
  ],
  [
    'It was true before and has been told: `became_true` tells it once.',
    'Es war schon vorher wahr und ist gemeldet: `became_true` meldet es einmal.',
  ],
  [
    'It was true before and has been told {oneSeconds} s ago; reminders come every {oneEvery} s.',
    'Es war schon vorher wahr und wurde vor {oneSeconds} s gemeldet; erinnert wird alle {oneEvery} s.',
  ],
  [
    'It was true before and has been told; reminders come every {oneEvery} s.',
    'Es war schon vorher wahr und ist gemeldet; erinnert wird alle {oneEvery} s.',
  ],
  [
    'The condition is still true, and a reminder was due.',
    'Die Bedingung ist noch erfüllt, und eine Erinnerung war fällig.',
  ],
  [
    'The condition is not true any more, and that it was true has been told.',
    'Die Bedingung ist nicht mehr erfüllt, und dass sie es war, ist gemeldet.',
  ],
  [
    'The condition is true, and the policy tells every run that finds it so.',
    'Die Bedingung ist erfüllt, und die Regeln melden jeden Lauf, der das findet.',
  ],
  ['The condition is true, and that had not been told.', 'Die Bedingung ist erfüllt, und das war noch nicht gemeldet.'],
  ['The condition is not true.', 'Die Bedingung ist nicht erfüllt.'],
  ['Flapping is not looked for.', 'Auf ein Hin und Her wird nicht geachtet.'],
  ['The outcomes are calm.', 'Die Ergebnisse sind ruhig.'],
  [
    'The last {oneN} outcome changed too often ({shown}).',
    'Das letzte {oneN} Ergebnis hat zu oft gewechselt ({shown}).',
  ],
  [
    'The last {oneN} outcomes changed too often ({shown}).',
    'Die letzten {oneN} Ergebnisse haben zu oft gewechselt ({shown}).',
  ],
  [
    'That the task could not be checked has been told, and it is over.',
    'Dass sich die Aufgabe nicht prüfen ließ, ist gemeldet, und es ist vorbei.',
  ],
  ['This run has something to tell.', 'Dieser Lauf hat etwas zu melden.'],
  [
    'The value, or the outcome where none is reported, differs from the last one.',
    'Der Wert, oder das Ergebnis, wo keiner gemeldet wird, ist anders als der letzte.',
  ],
  [
    'The value, or the outcome where none is reported, is as before, or is the first of all.',
    'Der Wert, oder das Ergebnis, wo keiner gemeldet wird, ist wie zuvor oder der allererste.',
  ],
  [
    'No enabled action listens to this kind of message (`on`).',
    'Keine eingeschaltete Aktion hört auf diese Art von Nachricht (`on`).',
  ],
  [
    'It would have told "{oneKind}" ({oneReason}), but no enabled action listens to that (`on`).',
    'Es hätte `{oneKind}` gemeldet ({oneReason}), aber keine eingeschaltete Aktion hört darauf (`on`).',
  ],
  ['The task is not paused.', 'Die Aufgabe ist nicht pausiert.'],
  ['The task is paused.', 'Die Aufgabe ist pausiert.'],
  ['The policy is not muted.', 'Die Regeln sind nicht stummgeschaltet.'],
  ['The policy is muted.', 'Die Regeln sind stummgeschaltet.'],
  ['It depends on no other task.', 'Sie hängt von keiner anderen Aufgabe ab.'],
  ['No task that it depends on is down.', 'Keine Aufgabe, von der sie abhängt, ist gestört.'],
  [
    'A task that it depends on is true or cannot be checked. It is told afterwards if it still holds.',
    'Eine Aufgabe, von der sie abhängt, ist erfüllt oder lässt sich nicht prüfen. Gemeldet wird danach, wenn es dann noch gilt.',
  ],
  ['There are no quiet hours.', 'Es gibt keine Ruhezeiten.'],
  ['It is outside of the quiet hours.', 'Es ist außerhalb der Ruhezeiten.'],
  [
    'It is within the quiet hours. It is told afterwards if it still holds.',
    'Es ist innerhalb der Ruhezeiten. Gemeldet wird danach, wenn es dann noch gilt.',
  ],
  ['There is no cooldown.', 'Es gibt keinen Mindestabstand.'],
  ['The cooldown of {oneN} s is over.', 'Der Mindestabstand von {oneN} s ist um.'],
  [
    'The last trigger was {oneSeconds} s ago, and the cooldown is {oneN} s.',
    'Ausgelöst wurde zuletzt vor {oneSeconds} s, und der Mindestabstand ist {oneN} s.',
  ],
  [
    'The cooldown of {oneN} s is not asked: it holds back new triggers alone.',
    'Der Mindestabstand von {oneN} s zählt hier nicht: er hält nur neue Auslösungen zurück.',
  ],
  ['There is no hourly limit.', 'Eine Grenze für die Stunde gibt es nicht.'],
  ['Fewer than {oneN} messages in the last hour.', 'Weniger als {oneN} Nachrichten in der letzten Stunde.'],
  [
    'There were {oneN} messages in the last hour, which is the limit.',
    'In der letzten Stunde waren es {oneN} Nachrichten, und das ist die Grenze.',
  ],
  [
    'An enabled action listens to this kind of message.',
    'Eine eingeschaltete Aktion hört auf diese Art von Nachricht.',
  ],
  ['It was no dry run.', 'Es war kein Probelauf.'],
  [
    'It was a dry run, which sends nothing and changes nothing.',
    'Es war ein Probelauf, der nichts sendet und nichts ändert.',
  ],
  ['No later slot had been decided before.', 'Kein späterer Termin war schon entschieden.'],
  [
    'A later slot had been decided before this one came in.',
    'Ein späterer Termin war schon entschieden, als dieser kam.',
  ],
  [
    'It was forced and its outcome is true: the policy is not asked.',
    'Es wurde verlangt, und das Ergebnis ist wahr: nach den Regeln geht es nicht.',
  ],
  [
    'It was forced and its outcome is true: that is sent whatever the policy says.',
    'Es wurde verlangt, und das Ergebnis ist wahr: das wird gesendet, was die Regeln auch sagen.',
  ],
];

/** Why slots have no run, as the end of a sentence. */
const passedOver: readonly Saying[] = [
  [
    'the run before was still going (`overlap: skip`, or one slot was waiting already)',
    'der Lauf davor noch nicht zu Ende war (`overlap: skip`, oder ein Termin wartete schon)',
  ],
  [
    'it was over before it could be fired, and `catchUp: none` leaves such slots out',
    'er vorbei war, bevor er an die Reihe kam, und `catchUp: none` solche Termine auslässt',
  ],
  [
    'this instance was not running then, or was far behind',
    'diese Instanz damals nicht lief oder weit im Rückstand war',
  ],
  [
    'the task backs off: its runs had to be ended from outside, again and again',
    'die Aufgabe seltener läuft: ihre Läufe mussten immer wieder von außen beendet werden',
  ],
];

const noRuns: readonly Saying[] = [
  ['No run, because {said}.', 'Kein Lauf, weil {said}.'],
  ['No run was due yet, because {said}.', 'Noch war kein Lauf fällig, weil {said}.'],
  [
    'No run happened for one slot ({oneFrom} to {oneTo}), because {said}.',
    'Für einen Termin ({oneFrom} bis {oneTo}) gab es keinen Lauf, weil {said}.',
  ],
  [
    'No run happened for {oneN} slots ({oneFrom} to {oneTo}), because {said}.',
    'Für {oneN} Termine ({oneFrom} bis {oneTo}) gab es keinen Lauf, weil {said}.',
  ],
  [
    'No run was due: the task had been paused, since {oneTime} or before.',
    'Es war kein Lauf fällig: die Aufgabe war pausiert, seit {oneTime} oder früher.',
  ],
  [
    'No run was due: the task had been paused since {oneTime}.',
    'Es war kein Lauf fällig: die Aufgabe war seit {oneTime} pausiert.',
  ],
  ['No run was due: the task runs by hand only.', 'Es war kein Lauf fällig: die Aufgabe läuft nur von Hand.'],
  [
    'No run was due: the schedule has no further time (its `at` or `endAt` is over).',
    'Es war kein Lauf fällig: der Zeitplan hat keinen weiteren Zeitpunkt (`at` oder `endAt` ist vorbei).',
  ],
  [
    'A run was due at {oneTime} and had not begun: the instance was not running, or was behind.',
    'Um {oneTime} war ein Lauf fällig und hatte nicht begonnen: die Instanz lief nicht oder war im Rückstand.',
  ],
  [
    'A run was due at {oneTime} and had not begun: the instance was not running, or was behind. It missed one slot and went on at {oneAt}.',
    'Um {oneTime} war ein Lauf fällig und hatte nicht begonnen: die Instanz lief nicht oder war im Rückstand. Sie hat einen Termin versäumt und um {oneAt} weitergemacht.',
  ],
  [
    'A run was due at {oneTime} and had not begun: the instance was not running, or was behind. It missed {oneN} slots and went on at {oneAt}.',
    'Um {oneTime} war ein Lauf fällig und hatte nicht begonnen: die Instanz lief nicht oder war im Rückstand. Sie hat {oneN} Termine versäumt und um {oneAt} weitergemacht.',
  ],
  ['No run had been planned yet: the task was new.', 'Es war noch kein Lauf geplant: die Aufgabe war neu.'],
  ['The run of {oneTime} had not ended yet.', 'Der Lauf um {oneTime} war noch nicht zu Ende.'],
  [
    'The slot of {oneTime} waited for the run before it to end (`overlap: queue`).',
    'Der Termin um {oneTime} wartete auf das Ende des Laufs davor (`overlap: queue`).',
  ],
  [
    'That time has not come; the next run is due at {oneTime}.',
    'Diese Zeit ist noch nicht gekommen; der nächste Lauf ist um {oneTime} fällig.',
  ],
  ['That time has not come.', 'Diese Zeit ist noch nicht gekommen.'],
  ['That time has not come. {said}', 'Diese Zeit ist noch nicht gekommen. {said}'],
  ['The first run was due at {oneTime}.', 'Der erste Lauf war um {oneTime} fällig.'],
  ['No run had ended by then.', 'Bis dahin war kein Lauf zu Ende.'],
  ['No run had ended by then. {said}', 'Bis dahin war kein Lauf zu Ende. {said}'],
  ['No run is on record for {oneDay}.', 'Für den {oneDay} ist kein Lauf festgehalten.'],
  [
    'On {oneDay} there were {oneN} runs, {oneFailed} of which failed; {oneNotified} made messages.',
    'Am {oneDay} gab es {oneN} Läufe, von denen {oneFailed} scheiterten; {oneNotified} führten zu Nachrichten.',
  ],
  [
    '{said} The runs of that day are kept as figures alone.',
    '{said} Von den Läufen dieses Tages sind nur Zahlen aufbewahrt.',
  ],
  [
    '{said} The {oneKind} changed from {oneFrom} to {oneTo} at {oneTime} ({oneReason}).',
    '{said} {oneKind} wechselte um {oneTime} von {oneFrom} zu {oneTo} ({oneReason}).',
  ],
];

const runs: readonly Saying[] = [
  ['The notification was deleted before the run began.', 'Die Aufgabe wurde gelöscht, bevor der Lauf begann.'],
  [
    '{said} At least {oneN} runs in a row had to be ended from outside: until one ends well or the code is changed, runs are {oneFactor} intervals apart.',
    '{said} Mindestens {oneN} Läufe in Folge mussten von außen beendet werden: bis einer gut endet oder der Code geändert wird, liegen {oneFactor} Intervalle zwischen den Läufen.',
  ],
  [
    'Meerkat was stopped before the run was over. It begins anew once Meerkat runs again, or at once where other processes do.',
    'Meerkat wurde angehalten, bevor der Lauf zu Ende war. Er beginnt von vorn, sobald Meerkat wieder läuft, oder gleich, wo andere Prozesse laufen.',
  ],
];

export const explainedDe: readonly Saying[] = [...rules, ...noRuns, ...passedOver, ...runs];
