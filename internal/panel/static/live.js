// One stream per page tells which topics changed; parts of the page that care
// (ui.Live) read themselves again. The stream carries no content, so what is
// shown always comes through the same masked pages.

const url = document.body.dataset.live;
const light = document.getElementById('live');

function state(name, word) {
  if (!light) return;
  light.dataset.state = name;
  const el = light.querySelector('.live-word');
  if (el.textContent !== word) el.textContent = word;
}

function connect() {
  const source = new EventSource(url);
  let lost = false;
  source.addEventListener('open', () => {
    state('on', 'Live');
    if (lost) document.body.dispatchEvent(new CustomEvent('live-any'));
    lost = false;
  });
  source.addEventListener('error', () => {
    lost = true;
    state('off', source.readyState === EventSource.CLOSED ? 'Offline' : 'Reconnecting');
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
  });
  source.addEventListener('topic', (e) => {
    for (const topic of e.data.split(' ')) document.body.dispatchEvent(new CustomEvent(`live-${topic}`));
    document.body.dispatchEvent(new CustomEvent('live-any'));
  });
  addEventListener('pagehide', () => source.close(), { once: true });
}

if (url) connect();
