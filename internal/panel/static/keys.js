// Shortcuts are attributes: data-key="a" on a control means that typing "a"
// uses it, "g a" means one key after the other. This file knows no page.

const storage = 'tandem-keys';
const field = 'input, textarea, select, [contenteditable]';
let first = '';
let timer = 0;

export const enabled = () => localStorage.getItem(storage) !== 'off';

function visible(el) {
  return el.checkVisibility ? el.checkVisibility() : el.offsetParent !== null;
}

// An open dialog owns the keyboard: only controls inside it answer.
function scope() {
  const open = document.querySelectorAll('dialog[open]');
  return open.length ? open[open.length - 1] : document;
}

function find(keys) {
  // The side bar is hidden on a phone and still reachable by its keys.
  for (const el of scope().querySelectorAll('[data-key]')) {
    if (el.dataset.key === keys && !el.disabled && (visible(el) || el.closest('#side'))) return el;
  }
  return null;
}

function use(el) {
  if (el.matches(field)) { el.focus(); el.select?.(); } else el.click();
}

document.addEventListener('keydown', (e) => {
  if ((e.ctrlKey || e.metaKey) && !e.altKey && e.key.toLowerCase() === 'k') {
    e.preventDefault();
    document.querySelector('[data-open="palette"]')?.click();
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || !enabled()) return;
  if (e.target.closest?.(field)) {
    if (e.key === 'Escape' && !e.target.closest('dialog')) e.target.blur();
    return;
  }
  if (e.key.length !== 1) return;
  const pair = first && find(`${first} ${e.key}`);
  clearTimeout(timer);
  first = '';
  const el = pair || find(e.key);
  if (el) { e.preventDefault(); use(el); return; }
  if (document.querySelector(`[data-key^="${CSS.escape(e.key)} "]`)) {
    first = e.key;
    timer = setTimeout(() => { first = ''; }, 1200);
  }
});

const toggle = document.querySelector('[data-keys-toggle]');
if (toggle) {
  toggle.checked = enabled();
  toggle.addEventListener('change', () => localStorage.setItem(storage, toggle.checked ? 'on' : 'off'));
}
