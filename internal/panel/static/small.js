// Small conveniences: theme, copying, times that stay true, confirmations.
import { toast } from './dialog.js';

const root = document.documentElement;

document.addEventListener('click', (e) => {
  if (e.target.closest('[data-theme-toggle]')) {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    const now = root.dataset.theme;
    // as the system, then the other one, then the same one fixed
    const next = now === undefined ? (dark ? 'light' : 'dark') : now === (dark ? 'light' : 'dark') ? (dark ? 'dark' : 'light') : '';
    if (next) { root.dataset.theme = next; localStorage.setItem('tandem-theme', next); } else { delete root.dataset.theme; localStorage.removeItem('tandem-theme'); }
    toast('quiet', next ? `Theme: ${next}` : 'Theme: as the system');
    return;
  }
  const copy = e.target.closest('[data-copy]');
  if (copy) {
    navigator.clipboard.writeText(copy.dataset.copy).then(
      () => { copy.dataset.done = ''; setTimeout(() => delete copy.dataset.done, 1200); },
      () => toast('bad', 'The browser did not allow copying.'),
    );
  }
});

// The same steps as ui.Ago.
export function ago(ms) {
  const future = ms < 0;
  const s = Math.abs(ms) / 1000;
  let out;
  if (s < 5) return 'just now';
  if (s < 60) out = `${Math.floor(s)} s`;
  else if (s < 3600) out = `${Math.floor(s / 60)} min`;
  else if (s < 48 * 3600) out = `${Math.floor(s / 3600)} h`;
  else if (s < 60 * 86400) out = `${Math.floor(s / 86400)} d`;
  else return null;
  return future ? `in ${out}` : `${out} ago`;
}

setInterval(() => {
  for (const el of document.querySelectorAll('time[data-ago]')) {
    const text = ago(Date.now() - Date.parse(el.dateTime));
    if (text && el.textContent !== text) el.textContent = text;
  }
}, 1000);
