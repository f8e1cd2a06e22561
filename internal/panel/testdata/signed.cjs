// The page of a person who signed in acts; a page on another port of the same
// name, which is sent the same cookie, does not.
const { chromium } = require('playwright-core');
const fs = require('fs');

const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const out = { put: [], elsewhere: [], problems: [] };

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  const context = await browser.newContext();
  const page = await context.newPage();
  page.on('pageerror', (e) => out.problems.push(`script: ${e.message}`));
  const ready = () => page.waitForFunction(() => window.htmx && document.getElementById('live')?.dataset.state === 'on');
  async function put(key) {
    await ready();
    await page.keyboard.press('n');
    await page.getByLabel('Key', { exact: true }).fill(key);
    await page.locator('#new-value').fill('"first line"\n');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.waitForURL(new RegExp(`key=${key}`));
    out.put.push(key);
  }
  const keys = () => page.evaluate(async () => {
    const all = [];
    for (const { name } of await indexedDB.databases()) {
      const db = await new Promise((yes, no) => { const r = indexedDB.open(name); r.onsuccess = () => yes(r.result); r.onerror = () => no(r.error); });
      for (const store of db.objectStoreNames) {
        const got = await new Promise((yes) => { const r = db.transaction(store).objectStore(store).getAll(); r.onsuccess = () => yes(r.result); });
        all.push(...got.map((pair) => pair.privateKey.extractable));
      }
      db.close();
    }
    return all;
  });
  await page.goto(`${input.base}/signin?code=${input.code}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/panel/');
  await page.goto(`${input.base}/panel/resources`);
  await put('first');
  await page.reload();
  await put('reloaded');
  out.extractable = await keys();

  await page.goto(`${input.other}/`);
  out.keys = (await keys()).length;
  for (const mode of ['cors', 'no-cors']) {
    out.elsewhere.push(await page.evaluate(async ([base, mode]) => {
      const res = await fetch(`${base}/panel/resources`, { method: 'POST', mode, credentials: 'include', body: new URLSearchParams({ key: 'planted', value: '1' }) }).catch(() => null);
      return res?.ok ? 'taken' : 'refused';
    }, [input.base, mode]));
  }
  await page.evaluate(() => fetch('/steal'));
  await page.goto(`${input.other}/restart`);
  await page.goto(`${input.base}/panel/resources`);
  await put('restarted');
  await browser.close();
  process.stdout.write(JSON.stringify(out));
})().catch((e) => { process.stderr.write(`${e.stack}\n${JSON.stringify(out)}`); process.exit(1); });
