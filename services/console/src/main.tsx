/** The console's start: texts in the reader's language first, then the pages. */
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { applyTheme, preferredTheme } from './frame/theme.js';
import './style/base.css';
import { loadCatalogue, preferredLanguage } from './text/text.js';

applyTheme(preferredTheme());
/** A server of another version has other files: the page is loaded anew, and once only where that does not help. */
const reloadedKey = 'meerkat.reloaded-at';
const reloadAgainMs = 30_000;
window.addEventListener('vite:preloadError', (event) => {
  const before = Number(sessionStorage.getItem(reloadedKey) ?? 0);
  if (Date.now() - before < reloadAgainMs) return;
  event.preventDefault();
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  location.reload();
});

const language = preferredLanguage();
const catalogue = await loadCatalogue(language);
const place = document.getElementById('root');
if (place === null) throw new Error('index.html has no #root');
createRoot(place).render(<App first={{ language, catalogue }} />);
