// A session's terminal, live. It is for looking: keys are sent only while the
// page says that this browser took it over. What the program prints can move
// the cursor and change colours, and nothing else: no clipboard, no links, no
// title, no mouse, and no answers to what it asks the terminal.
import { Terminal } from './xterm.mjs';
import { post } from './sign.js';

const box = document.querySelector('[data-terminal]');

// xterm.js writes its colours into style elements and attributes, which the
// page's policy refuses. A constructed sheet is the same rules without the
// element's text, and a declaration that is set is the attribute without its.
const attribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === 'style') this.style.cssText = value; else attribute.call(this, name, value);
};

function styled(make) {
  const create = document.createElement;
  document.createElement = function (name, ...rest) {
    if (String(name).toLowerCase() !== 'style') return create.call(document, name, ...rest);
    const el = create.call(document, 'template'); // stands where the element would
    const sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    Object.defineProperty(el, 'textContent', { get: () => '', set: (text) => sheet.replaceSync(text) });
    return el;
  };
  try { make(); } finally { document.createElement = create; }
}

const bytes = (s) => Uint8Array.from(atob(s), (c) => c.charCodeAt(0));
const base64 = (b) => { let s = ''; for (const x of b) s += String.fromCharCode(x); return btoa(s); };
const typing = () => document.querySelector('[data-type]')?.dataset.type;

function quiet(term) {
  const nothing = () => true; // handled, by doing nothing
  for (const osc of [0, 1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 52, 104, 110, 111, 112, 133, 777, 1337]) term.parser.registerOscHandler(osc, nothing);
  for (const id of [{ final: 'c' }, { prefix: '>', final: 'c' }, { prefix: '=', final: 'c' }, { final: 'n' }, { prefix: '?', final: 'n' }, { final: 't' },
    { intermediates: '$', final: 'p' }, { prefix: '?', intermediates: '$', final: 'p' }, { prefix: '>', final: 'q' }]) term.parser.registerCsiHandler(id, nothing);
  term.parser.registerDcsHandler({ intermediates: '$', final: 'q' }, nothing);
  term.parser.registerDcsHandler({ intermediates: '+', final: 'q' }, nothing);
  const mouse = new Set([9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016]);
  const only = (params) => params.length > 0 && params.every((p) => mouse.has(p));
  term.parser.registerCsiHandler({ prefix: '?', final: 'h' }, only);
  term.parser.registerCsiHandler({ prefix: '?', final: 'l' }, only);
}

// readable is what a screen says, for a narrow page: rules and gaps are shortened, and what would reorder letters is drawn.
function readable(term) {
  const screen = term.buffer.active;
  let text = '';
  for (let y = screen.baseY; y < screen.baseY + term.rows; y++) {
    const line = screen.getLine(y);
    if (line) text += (line.isWrapped ? '' : '\n') + line.translateToString(true);
  }
  return text.replace(/([^\p{L}\p{N}\s])\1{20,}/gu, (rule) => rule.slice(0, 20)).replace(/ {9,}/g, '   ').replace(/\p{Cf}/gu, '\ufffd').trim();
}

function start() {
  const said = document.getElementById('terminal-said');
  const term = new Terminal({ cols: 120, rows: 40, scrollback: 2000, fontFamily: getComputedStyle(document.body).getPropertyValue('--mono'), fontSize: 13, cursorBlink: false,
    minimumContrastRatio: 4.5, linkHandler: { activate() {} }, theme: { background: '#0d1015', foreground: '#e8ebf0', cursor: '#8fb0ff', selectionBackground: '#33436b' } });
  quiet(term);
  box.textContent = '';
  styled(() => term.open(box));
  box.dataset.on = '';

  // Fewer pixels for each letter before a bar to scroll by; where nobody could read them any more, as on a phone, the
  // screen's lines stand as text that wraps, and the terminal behind them only takes keys.
  const lines = document.createElement('pre');
  lines.className = 'term-lines';
  lines.tabIndex = 0;
  box.append(lines);
  let due = false;
  const draw = () => {
    if (due || !('narrow' in box.dataset)) return;
    due = true;
    requestAnimationFrame(() => { due = false; lines.textContent = readable(term); });
  };
  const fit = () => {
    const size = Math.floor((box.clientWidth - 18) / term.cols / 0.6 * 4) / 4;
    box.toggleAttribute('data-narrow', size < 7);
    term.options.fontSize = Math.max(7, Math.min(13, size));
    draw();
  };
  new ResizeObserver(fit).observe(box);
  term.onWriteParsed(draw);
  lines.addEventListener('click', () => { if (typing()) term.focus(); });

  const source = new EventSource(box.dataset.terminal);
  source.addEventListener('screen', (e) => {
    const f = JSON.parse(e.data);
    term.reset();
    term.resize(f.cols, f.rows);
    fit();
    term.write(bytes(f.data), () => { box.dataset.shown = ''; });
    said.textContent = '';
  });
  source.addEventListener('output', (e) => term.write(bytes(JSON.parse(e.data).data)));
  source.addEventListener('gone', (e) => { source.close(); said.textContent = JSON.parse(e.data).said; });
  source.addEventListener('error', () => { said.textContent = source.readyState === EventSource.CLOSED ? 'The terminal cannot be shown. Reload the page.' : 'Reconnecting'; });
  addEventListener('pagehide', () => source.close(), { once: true });

  // What was typed is sent in order, one request at a time.
  let waiting = [];
  let busy = false;
  async function flush() {
    if (busy || !waiting.length) return;
    busy = true;
    const data = base64(new TextEncoder().encode(waiting.join('')));
    waiting = [];
    try {
      const res = await post(typing(), { data });
      said.textContent = res.ok ? '' : (await res.json().catch(() => null))?.error?.message ?? `The server answered ${res.status}.`;
    } catch {
      said.textContent = 'What you typed may not have arrived.';
    }
    busy = false;
    flush();
  }
  term.attachCustomKeyEventHandler(() => !!typing()); // while only looking, Tab and the shortcuts are the page's
  term.onData((text) => { if (typing()) { waiting.push(text); flush(); } });
  if (typing()) term.focus();
}

if (box) start();
