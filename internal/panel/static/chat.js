// A session's own stream: what the agent is saying appears as it says it. It
// is put in as text, with hidden characters spelled out; when a piece is
// finished the page reads the conversation again, through the gate.
const box = document.querySelector('[data-follow]');
const field = document.querySelector('[data-send]');

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}\u{fe00}-\u{fe0f}\u{e0000}-\u{e0fff}]/gu;
const visible = (s) => s.replace(hidden, (c) => (c === '\n' || c === '\t' ? c : `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`));

let stale = false;

function changed() {
  stale = true;
  document.body.dispatchEvent(new CustomEvent('live-session'));
}

function clear() {
  if (!stale) return;
  stale = false;
  box.textContent = '';
  box.hidden = true;
}

function follow() {
  const source = new EventSource(box.dataset.follow);
  source.addEventListener('part.started', () => { stale = true; clear(); });
  source.addEventListener('part.delta', (e) => {
    clear();
    const low = innerHeight + scrollY >= document.body.scrollHeight - 80;
    box.hidden = false;
    box.append(visible(JSON.parse(e.data).delta ?? ''));
    if (low) scrollTo(0, document.body.scrollHeight);
  });
  for (const type of ['message.added', 'turn.changed', 'call.changed', 'question.changed', 'todo.changed', 'session.changed', 'session.reverted', 'part.ended']) source.addEventListener(type, changed);
  source.addEventListener('error', () => { if (source.readyState === EventSource.CLOSED) setTimeout(follow, 5000); });
  addEventListener('pagehide', () => source.close(), { once: true });
}

if (box) {
  document.addEventListener('htmx:after:swap', clear);
  follow();
  readable([...document.querySelectorAll('.talk > li, .chat-ask, .chat-question')].at(-1));
}

// readable brings what was said last between the header and the box to write
// in: its end, or its beginning where it is longer than that.
function readable(last) {
  if (!last) return;
  const above = (document.querySelector('.top')?.getBoundingClientRect().bottom ?? 0) + 12;
  const below = innerHeight - (document.querySelector('.chat-send')?.offsetHeight ?? 0) - 36;
  const r = last.getBoundingClientRect();
  if (r.top >= above && r.bottom <= below) return;
  scrollBy(0, Math.min(r.top - above, r.bottom - below));
}

// An ask or a question that is new comes into sight, above the box to write in.
const asked = () => [...document.querySelectorAll('.chat-ask, .chat-question')];
let known = asked().length;
document.addEventListener('htmx:after:swap', () => {
  const now = asked();
  if (now.length > known) now.at(-1).scrollIntoView({ block: 'nearest' });
  known = now.length;
});

field?.addEventListener('keydown', (e) => {
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); field.form.requestSubmit(); }
});
