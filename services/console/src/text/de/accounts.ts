import type { accountsEn } from '../en/accounts.js';

export const accountsDe: Readonly<Record<keyof typeof accountsEn, string>> = {
  'signIn.title': 'Anmelden',
  'signIn.email': 'Ihre E-Mail-Adresse',
  'signIn.password': 'Passwort',
  'signIn.do': 'Anmelden',
  'setup.title': 'Meerkat einrichten',
  'setup.what': 'Dies legt Ihre Organisation, ihren Inhaber und einen ersten API-Schlüssel an. Es geschieht einmal.',
  'setup.token': 'Einrichtungs-Token, beim Start von Meerkat ausgegeben',
  'setup.organization': 'Name Ihrer Organisation',
  'setup.passwordHint': 'Mindestens 12 Zeichen.',
  'setup.wrongToken': 'Dieses Token ist falsch. Öffnen Sie den Link, den Meerkat beim letzten Start ausgegeben hat.',
  'setup.do': 'Einrichten',
  'setup.done': 'Meerkat ist eingerichtet',
  'setup.keyOnce':
    'Dies ist Ihr erster API-Schlüssel, für Programme. Kopieren Sie ihn jetzt, falls Sie die API nutzen möchten.',
  'setup.key': 'API-Schlüssel',
  'setup.firstTask': 'Eine erste Seite beobachten',
  'copy.do': 'Kopieren',
  'copy.done': 'Kopiert.',
  'copy.selected': 'Ausgewählt: mit Strg+C oder ⌘C kopieren.',
};
