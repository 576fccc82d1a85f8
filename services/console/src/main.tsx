/** The console's start: texts in the reader's language first, then the pages. */
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { applyTheme, preferredTheme } from './frame/theme.js';
import './style/base.css';
import { loadCatalogue, preferredLanguage } from './text/text.js';

applyTheme(preferredTheme());
const language = preferredLanguage();
// Better in English than not at all.
const first = await loadCatalogue(language).then(
  (catalogue) => ({ language, catalogue }),
  async () => ({ language: 'en' as const, catalogue: await loadCatalogue('en') }),
);
const place = document.getElementById('root');
if (place === null) throw new Error('index.html has no #root');
createRoot(place).render(<App first={first} />);
