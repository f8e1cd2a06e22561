// Lists that are walked with j and k. A list is [data-list]; its rows are
// [data-row], each with a link [data-row-link] that Enter follows. In a list
// with data-list="preview" moving also opens the row beside it.

const lists = () => document.querySelectorAll('[data-list]');

function rows() {
  for (const l of lists()) {
    const r = [...l.querySelectorAll('[data-row]')];
    if (r.length && l.checkVisibility()) return { list: l, rows: r };
  }
  return null;
}

function current(r) {
  const i = r.findIndex((row) => row.getAttribute('aria-current') === 'true' || row.contains(document.activeElement));
  return i;
}

function go(step) {
  const found = rows();
  if (!found) return;
  const i = current(found.rows);
  const next = found.rows[Math.min(Math.max(i + step, 0), found.rows.length - 1)];
  for (const row of found.rows) row.removeAttribute('aria-current');
  next.setAttribute('aria-current', 'true');
  const link = next.querySelector('[data-row-link]') ?? next;
  link.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
  if (found.list.dataset.list === 'preview') link.dispatchEvent(new CustomEvent('preview', { bubbles: true }));
}

document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || localStorage.getItem('tandem-keys') === 'off') return;
  if (document.querySelector('dialog[open]') || e.target.closest?.('input, textarea, select')) return;
  if (e.key === 'j') { e.preventDefault(); go(1); }
  if (e.key === 'k') { e.preventDefault(); go(-1); }
});
