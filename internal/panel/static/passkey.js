// Passkeys: the browser's half of presence. A form with data-passkey asks the
// server for a challenge at that address (which binds it to exactly what is
// being decided), has the authenticator answer it, and carries the answer in
// its field "passkey". The server checks everything; this file only translates.
import { toast } from './dialog.js';
import { post } from './sign.js';

const bytes = (s) => Uint8Array.from(atob(s.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
const text = (b) => btoa(String.fromCharCode(...new Uint8Array(b))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
const known = (list) => (list ?? []).map((c) => ({ ...c, id: bytes(c.id) }));

async function challenge(form) {
  const res = await post(form.dataset.passkey, new FormData(form));
  if (!res.ok) throw new Error((await res.json().catch(() => null))?.error?.message ?? `The server answered ${res.status}.`);
  return (await res.json()).publicKey;
}

async function prove(form) {
  const key = await challenge(form);
  key.challenge = bytes(key.challenge);
  if (form.dataset.passkeyDo === 'create') {
    key.user.id = bytes(key.user.id);
    key.excludeCredentials = known(key.excludeCredentials);
    const c = await navigator.credentials.create({ publicKey: key });
    return { id: c.id, rawId: text(c.rawId), type: c.type, clientExtensionResults: c.getClientExtensionResults(), response: {
      clientDataJSON: text(c.response.clientDataJSON), attestationObject: text(c.response.attestationObject), transports: c.response.getTransports?.() ?? [] } };
  }
  key.allowCredentials = known(key.allowCredentials);
  const c = await navigator.credentials.get({ publicKey: key });
  return { id: c.id, rawId: text(c.rawId), type: c.type, clientExtensionResults: c.getClientExtensionResults(), response: {
    clientDataJSON: text(c.response.clientDataJSON), authenticatorData: text(c.response.authenticatorData),
    signature: text(c.response.signature), userHandle: c.response.userHandle ? text(c.response.userHandle) : undefined } };
}

// A PIN in the form is presence enough; the authenticator is asked otherwise.
document.addEventListener('submit', (e) => {
  const form = e.target;
  if (!form.matches('[data-passkey]') || form.dataset.proven !== undefined) return;
  if (e.submitter?.matches('[data-with-pin]')) return;
  e.preventDefault();
  const verdict = e.submitter;
  form.inert = true;
  prove(form).then((answer) => {
    form.elements.passkey.value = JSON.stringify(answer);
    form.dataset.proven = '';
    form.inert = false;
    form.requestSubmit(verdict);
  }).catch((err) => {
    form.inert = false;
    const quiet = err.name === 'NotAllowedError';
    toast(quiet ? 'warn' : 'bad', quiet ? 'No passkey was used; nothing was decided.' : err.message);
  });
});

if (!window.PublicKeyCredential) {
  for (const el of document.querySelectorAll('[data-needs-passkey]')) el.disabled = true;
}
