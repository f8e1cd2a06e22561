// Pages that automations made, in a real browser: what each asked for, and whether a script of it ran.
const { chromium } = require('playwright-core');
const fs = require('fs');
const path = require('path');

const input = JSON.parse(fs.readFileSync(0, 'utf8'));

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${input.base}/signin?code=${input.code}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/panel/');
  const out = {};
  for (const [name, address] of Object.entries(input.pages)) {
    const one = await page.context().newPage();
    const asked = [];
    const dialogs = [];
    one.on('response', (r) => { if (r.url() !== address) asked.push(r.url()); });
    one.on('dialog', (d) => { dialogs.push(d.message()); d.dismiss(); });
    await one.goto(address, { waitUntil: 'load' });
    await one.screenshot({ path: path.join(input.shots, `made-${name}.png`) });
    const { root } = await (await one.context().newCDPSession(one)).send('DOM.getDocument', { depth: 3 });
    const find = (node) => (node.nodeName === 'BODY' ? node : (node.children || []).map(find).find(Boolean));
    const body = find(root);
    out[name] = { asked, dialogs, ran: (body.attributes || []).includes('data-ran'), shows: body.childNodeCount > 0, at: one.url() };
    await one.close();
  }
  await browser.close();
  process.stdout.write(JSON.stringify(out));
})().catch((err) => { process.stderr.write(String(err.stack)); process.exit(1); });
