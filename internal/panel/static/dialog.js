// Dialogs, the finder and toasts.

document.addEventListener('click', (e) => {
  const open = e.target.closest('[data-open]');
  if (open) {
    const d = document.getElementById(open.dataset.open);
    if (!d || d.open) return;
    e.preventDefault();
    freeze(d);
    d.showModal();
    d.dispatchEvent(new CustomEvent('opened', { detail: { by: open } }));
    return;
  }
  const close = e.target.closest('[data-close]');
  if (close) { close.closest('dialog')?.close(); return; }
  if (e.target.matches?.('dialog.dialog')) {
    const r = e.target.getBoundingClientRect();
    const inside = e.clientX >= r.left && e.clientX <= r.right && e.clientY >= r.top && e.clientY <= r.bottom;
    if (!inside) e.target.close();
  }
});

// While a dialog is open it keeps showing what it was opened on, even when the
// page around it changes: nobody answers a question that changed under their
// hands. Afterwards the page catches up.
function freeze(d) {
  d.setAttribute('hx-morph-skip', '');
  d.addEventListener('close', () => {
    d.removeAttribute('hx-morph-skip');
    const topics = d.closest('[data-live-topics]')?.dataset.liveTopics ?? '';
    for (const t of topics.split(' ').filter(Boolean)) document.body.dispatchEvent(new CustomEvent(`live-${t}`));
  }, { once: true });
}

// A dialog in which a wrong PIN was typed is open again on the page that says
// so, with what else was filled in, and asks for the PIN once more.
const inDialog = 'tandem-dialog';
const filled = (form) => form.querySelectorAll('textarea, select, input:not([type=hidden], [type=password], [type=file])');

document.addEventListener('submit', (e) => {
  const d = e.target.closest('dialog[open]');
  if (!d?.id || !e.target.querySelector('[name=pin]')) return;
  sessionStorage.setItem(inDialog, JSON.stringify({ id: d.id, fields: [...filled(e.target)].map((el) => [el.name, el.value, !!el.checked]) }));
});

function reopen(kept, why) {
  const d = document.getElementById(kept.id);
  const pin = d?.querySelector('[name=pin]');
  if (!pin || d.open) return;
  [...filled(pin.form)].forEach((el, i) => {
    const [name, value, checked] = kept.fields[i] ?? [];
    if (el.name !== name) return;
    if (el.matches('[type=checkbox], [type=radio]')) el.checked = checked; else el.value = value;
  });
  const about = document.getElementById(`${pin.id}-about`);
  about.className = 'field-problem';
  about.role = 'alert';
  about.textContent = why;
  pin.closest('.field').classList.add('field-bad');
  pin.setAttribute('aria-invalid', 'true');
  freeze(d);
  d.showModal();
  pin.focus();
}

const kept = sessionStorage.getItem(inDialog);
sessionStorage.removeItem(inDialog);
if (kept && document.body.dataset.unproven) reopen(JSON.parse(kept), document.body.dataset.unproven);

// toast(tone, text) tells what just happened. Errors stay until dismissed.
export function toast(tone, text) {
  const box = document.getElementById('toasts');
  if (!box) return;
  for (const old of box.children) if (old.firstChild.textContent === text) old.remove();
  const el = document.createElement('div');
  el.className = `toast tone-${tone}`;
  const p = document.createElement('p');
  p.textContent = text;
  const x = document.createElement('button');
  x.type = 'button';
  x.className = 'btn btn-quiet btn-icon';
  x.setAttribute('aria-label', 'Dismiss');
  x.textContent = '×';
  x.addEventListener('click', () => el.remove());
  el.append(p, x);
  box.append(el);
  if (tone !== 'bad') setTimeout(() => el.remove(), 6000);
}

// The server leaves a word about what just happened; it is told once.
for (const el of document.querySelectorAll('[data-toast]')) {
  toast(el.dataset.toast, el.textContent.trim());
  const url = new URL(location.href);
  url.searchParams.delete('said');
  history.replaceState(null, '', url);
}

// htmx does not swap errors in; say them instead.
document.addEventListener('htmx:response:error', (e) => {
  const status = e.detail?.ctx?.response?.status;
  if (status === 401) { location.assign('/signin'); return; } // a reload would stop a sign-out on its way there
  toast('bad', `The server answered ${status ?? 'with an error'}. Reload the page to see the present state.`);
});

const palette = document.getElementById('palette');
if (palette) {
  const input = document.getElementById('palette-input');
  const list = document.getElementById('palette-list');
  const none = palette.querySelector('.palette-none');
  let at = 0;

  const shown = () => [...list.children].filter((li) => !li.hidden);

  function mark(i) {
    const items = shown();
    for (const li of list.children) li.setAttribute('aria-selected', 'false');
    none.hidden = items.length > 0;
    if (!items.length) { input.removeAttribute('aria-activedescendant'); return; }
    at = (i + items.length) % items.length;
    items[at].setAttribute('aria-selected', 'true');
    items[at].scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', items[at].id);
  }

  // Words may come in any order and need not be whole.
  function filter() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const li of list.children) {
      const text = li.textContent.toLowerCase();
      li.hidden = !('found' in li.dataset) && !words.every((w) => text.includes(w)); // the server has chosen what it found
    }
    mark(0);
  }

  // The page's own labelled controls are actions.
  function collect() {
    for (const li of list.querySelectorAll('[data-action]')) li.remove();
    let n = 0;
    for (const el of document.querySelectorAll('main [data-action-name], .top [data-theme-toggle], .top [data-open="help"]')) {
      if (!el.checkVisibility()) continue;
      const li = document.createElement('li');
      li.id = `palette-action-${n++}`;
      li.role = 'option';
      li.dataset.action = '';
      const name = document.createElement('span');
      name.textContent = el.dataset.actionName ?? el.getAttribute('aria-label');
      li.append(document.createElement('i'), name);
      li.addEventListener('click', () => { palette.close(); el.click(); });
      list.append(li);
    }
  }

  // Things are asked for when somebody pauses; an answer to what was typed before is dropped.
  let asked = 0;
  let pause = 0;
  function things() {
    clearTimeout(pause);
    const mine = ++asked;
    for (const li of list.querySelectorAll('[data-found]')) li.remove();
    const q = input.value.trim();
    if (q.length < 2) return;
    pause = setTimeout(async () => {
      const res = await fetch(`${list.dataset.find}?q=${encodeURIComponent(q)}`).catch(() => null);
      if (!res?.ok || mine !== asked) return;
      const page = new DOMParser().parseFromString(await res.text(), 'text/html');
      if (mine !== asked) return;
      list.append(...page.querySelectorAll('[data-found]'));
      mark(Math.min(at, shown().length - 1));
    }, 120);
  }

  palette.addEventListener('opened', () => { input.value = ''; collect(); things(); filter(); input.focus(); });
  input.addEventListener('input', () => { things(); filter(); });
  input.addEventListener('keydown', (e) => {
    if (e.key === 'ArrowDown') { e.preventDefault(); mark(at + 1); }
    if (e.key === 'ArrowUp') { e.preventDefault(); mark(at - 1); }
    if (e.key === 'Enter') { e.preventDefault(); shown()[at]?.click(); }
  });
  list.addEventListener('click', (e) => {
    const li = e.target.closest('[data-href]');
    if (li) location.href = li.dataset.href;
  });
}
