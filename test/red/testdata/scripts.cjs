// A real browser walks through the panel, and through pages that escape nothing. Of every word that begins with RED it says on which
// pages it was shown, and of every page what became of the text: scripts that ran, elements and addresses that were made of it.
const { chromium } = require('playwright-core');
const fs = require('fs');

const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const out = { naive: {}, shown: {}, ran: {}, made: {}, pages: 0, refused: [] };

const note = (where, names, page) => names.forEach((n) => (where[n] ??= []).push(page));

// What a page holds: words, scripts that ran, and what was made of a text although nothing ran.
const look = () => {
  const words = [...new Set((document.body.innerText + ' ' + document.title + ' ' +
    [...document.querySelectorAll('input,textarea')].map((e) => e.value).join(' ')).match(/RED[a-z]+/g) ?? [])];
  const made = [...document.querySelectorAll('*')].flatMap((e) => [...e.attributes]
    .filter((a) => /^on/i.test(a.name) || /^\s*(javascript|data:text\/html)/i.test(a.value) || a.name === 'srcdoc')
    .flatMap((a) => a.value.match(/RED[a-z]+/g) ?? []))
    .concat([...document.querySelectorAll('script,style')].flatMap((e) => e.textContent.match(/RED[a-z]+/g) ?? []));
  return { words, made: [...new Set(made)], ran: window.ran ?? [], links: [...document.querySelectorAll('a[href]')].map((a) => a.href) };
};

async function visit(page, address) {
  const answer = await page.goto(address, { waitUntil: 'domcontentloaded' });
  await page.waitForTimeout(input.pause);
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
  return { status: answer ? answer.status() : 0, ...(await page.evaluate(look)) };
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--host-resolver-rules=MAP *.localhost 127.0.0.1'] });
  try {
    const open = await browser.newPage();
    for (const [name, address] of Object.entries(input.naive)) {
      out.naive[name] = (await visit(open, address)).ran.length > 0;
    }
    const page = await browser.newPage();
    page.on('console', (m) => { if (/Refused to (execute|run|load)/.test(m.text())) out.refused.push(`${page.url()}: ${m.text()}`); });
    page.on('dialog', (d) => d.dismiss());
    await page.goto(`${input.base}/signin?code=${input.code}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/panel/');
    const todo = input.pages.map((p) => input.base + p);
    const seen = new Set(todo);
    while (todo.length > 0 && out.pages < input.most) {
      const at = todo.shift();
      const got = await visit(page, at).catch((e) => ({ words: [], made: [], ran: [], links: [], failed: String(e) }));
      out.pages++;
      note(out.shown, got.words, at);
      note(out.made, got.made, at);
      note(out.ran, got.ran, at);
      for (const link of got.links) {
        const next = link.replace(/#.*/, '');
        if (!next.startsWith(`${input.base}/panel/`) || /content|receipt|proof|verify|signout/.test(next) || seen.has(next)) continue;
        seen.add(next);
        todo.push(next);
      }
    }
  } finally {
    await browser.close();
  }
  process.stdout.write(JSON.stringify(out));
})().catch((e) => { console.error(e); process.exit(1); });
