// Tasks are dragged between columns. Dropping sends the same form as the
// task's own page; where words are wanted a dialog asks for them. A refused
// move is told by the page that answers, and the board is as it was.
import './sortable.min.js';
import './dialog.js';

const asks = new Set(['done', 'blocked']);

function send(form, task, status) {
  form.action = `/panel/board/${task.dataset.task}/move`;
  form.elements.status.value = status;
  form.elements.rev.value = task.dataset.version;
}

function dropped(e) {
  const board = document.getElementById('board');
  board?.removeAttribute('hx-morph-skip');
  const to = e.to.dataset.column;
  if (e.from === e.to) return;
  const dialog = document.getElementById('task-words');
  const form = dialog.querySelector('[data-move]');
  send(form, e.item, to);
  form.elements.words.required = false;
  if (!asks.has(to)) { form.requestSubmit(); return; }
  form.elements.words.required = to === 'blocked';
  dialog.addEventListener('close', () => location.reload(), { once: true });
  dialog.showModal();
}

function start() {
  for (const el of document.querySelectorAll('[data-column]')) {
    if (self.Sortable.get(el)) continue;
    self.Sortable.create(el, {
      group: 'board', animation: matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 120, delay: 150, delayOnTouchOnly: true, ghostClass: 'task-ghost',
      onStart: () => document.getElementById('board')?.setAttribute('hx-morph-skip', ''), onEnd: dropped,
    });
  }
}

start();
document.addEventListener('htmx:after:swap', start);
