// The browser's key. It is made here once, cannot be taken out again, and is
// kept for the panel's own origin. Whatever a page does carries a signature of
// it, so that a cookie that somebody else has read does nothing.
export const field = 'tandem-signature';

const text = (b) => btoa(String.fromCharCode(...new Uint8Array(b))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
const hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, '0')).join('');
const utf8 = (s) => new TextEncoder().encode(s);
const digest = (b) => crypto.subtle.digest('SHA-256', b);
const done = (request) => new Promise((yes, no) => { request.onsuccess = () => yes(request.result); request.onerror = () => no(request.error); });

// A browser whose clock is far from the server's goes by the server's.
const away = Number(document.querySelector('meta[name=tandem-now]')?.content || Date.now()) - Date.now();
const now = () => Date.now() + (Math.abs(away) > 30000 ? away : 0);

async function load() {
  const open = indexedDB.open('tandem', 1);
  open.onupgradeneeded = () => open.result.createObjectStore('keys');
  const db = await done(open);
  const read = () => done(db.transaction('keys').objectStore('keys').get('acts'));
  let pair = await read();
  if (!pair) {
    const made = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
    // Another page may have been first; adding to what is there fails, and its key is the one.
    await done(db.transaction('keys', 'readwrite').objectStore('keys').add(made, 'acts')).catch(() => {});
    pair = await read();
  }
  db.close();
  return { secret: pair.privateKey, name: text(await crypto.subtle.exportKey('raw', pair.publicKey)) };
}

let loaded;
const key = () => (loaded ??= load().catch((e) => { loaded = undefined; throw e; }));

// fields is the digest of what a form says, as package sign makes it.
async function fields(data) {
  const plain = [];
  const files = [];
  for (const [name, value] of data) {
    if (name === field) continue;
    if (typeof value === 'string') plain.push([name, value.replace(/\r\n?/g, '\n')]);
    else if (value.name === '' && value.size === 0) plain.push([name, '']); // no file was chosen
    else files.push([name, hex(await digest(await value.arrayBuffer()))]);
  }
  const line = (mark) => ([name, value]) => `${mark}${utf8(name).length}:${name}=${utf8(value).length}:${value}\n`;
  const sorted = (all) => all.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return hex(await digest(utf8(sorted(plain).map(line('')).concat(sorted(files).map(line('file '))).join(''))));
}

// signature is one for a request to an address with these fields.
export async function signature(address, data) {
  const { secret, name } = await key();
  const url = new URL(address, location.href);
  const at = String(now());
  const nonce = text(crypto.getRandomValues(new Uint8Array(16)));
  const message = ['tandem panel act 1', 'POST', url.pathname + url.search, await fields(data), at, nonce].join('\n');
  const made = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, secret, utf8(message));
  return ['1', at, nonce, name, text(made)].join('.');
}

// post sends fields as a form does, signed.
export async function post(address, data) {
  const body = new URLSearchParams(data);
  body.set(field, await signature(address, body));
  return fetch(address, { method: 'POST', body, headers: { Accept: 'application/json' } });
}

// Forms are signed last, when everything else is filled in: listeners of the
// document come first. Where the browser keeps no key, the server says what
// to do.
const signing = new WeakSet();
window.addEventListener('submit', (e) => {
  const form = e.target;
  if (e.defaultPrevented || form.getAttribute('method')?.toLowerCase() !== 'post') return;
  if (form.dataset.signed !== undefined) { delete form.dataset.signed; return; }
  e.preventDefault();
  if (signing.has(form)) return;
  signing.add(form);
  const by = e.submitter;
  const made = signature(by?.getAttribute('formaction') ?? form.getAttribute('action'), new FormData(form, by)).catch(() => '');
  const after = new Promise((yes) => { setTimeout(yes); }); // a form that is still being submitted is not submitted again
  Promise.all([made, after]).then(([made]) => {
    let input = form.querySelector(`input[name="${field}"]`);
    if (!input) {
      input = document.createElement('input');
      input.type = 'hidden';
      input.name = field;
      form.append(input);
    }
    input.value = made;
    form.dataset.signed = '';
    signing.delete(form);
    form.requestSubmit(by);
    delete form.dataset.signed; // a form that was not valid was not sent
  });
});
