// What changed on the server reaches the page as the names of nouns; parts of
// the page that care (ui.Live) read themselves again. The stream carries no
// content, so what is shown always comes through the same masked pages.
//
// A browser opens few connections to one server, so of all tabs only one holds
// the stream and tells the others; when it is closed, the next one takes over.

const url = document.body.dataset.live;
const light = document.getElementById('live');
const channel = 'BroadcastChannel' in window ? new BroadcastChannel('tandem-live') : null;
let state = ['off', 'Offline'];
let leads = false;
let followed = false; // another tab held the stream before

function show([name, word]) {
  if (!light) return;
  light.dataset.state = name;
  const el = light.querySelector('.live-word');
  if (el.textContent !== word) el.textContent = word;
}

function changed(topics) {
  for (const t of new Set([...topics, 'any'])) document.body.dispatchEvent(new CustomEvent(`live-${t}`));
}

// After a gap nobody knows what was missed: everything is read again.
function everything() {
  const topics = [...document.querySelectorAll('[data-live-topics]')].flatMap((el) => el.dataset.liveTopics.split(' '));
  changed(topics);
}

// What a person was just told is not part of what is read again: it would be
// gone before they read it.
for (const el of document.querySelectorAll('[data-live-topics] [data-told]')) el.closest('[data-live-topics]').before(el);

function hear(message) {
  if (message.state) { state = message.state; show(state); followed ||= !leads; }
  if (message.topics) changed(message.topics);
  if (message.gap) everything();
}

function tell(message) {
  hear(message);
  channel?.postMessage(message);
}

function lead() {
  leads = true;
  let lost = followed; // what happened between the two streams, nobody told
  const source = new EventSource(url);
  source.addEventListener('open', () => { tell({ state: ['on', 'Live'], gap: lost }); lost = false; });
  source.addEventListener('topic', (e) => tell({ topics: e.data.split(' ') }));
  source.addEventListener('error', () => {
    lost = true;
    tell({ state: ['off', 'Reconnecting'] });
    if (source.readyState === EventSource.CLOSED) setTimeout(lead, 5000);
  });
  addEventListener('pagehide', () => source.close(), { once: true });
}

if (url) {
  channel?.addEventListener('message', (e) => {
    if (e.data.hello) { if (leads) channel.postMessage({ state }); } else hear(e.data);
  });
  if (channel && navigator.locks) {
    channel.postMessage({ hello: true });
    navigator.locks.request('tandem-live', () => { lead(); return new Promise(() => {}); });
  } else lead();
}
