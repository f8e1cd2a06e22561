// A person who is signed in is led to a page on another port, under every name that the page may guess. What it is sent is told by
// its server.
const { chromium } = require('playwright-core');
const fs = require('fs');

const input = JSON.parse(fs.readFileSync(0, 'utf8'));

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.goto(`${input.base}/signin?code=${input.code}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/panel/');
  for (const name of ['tandem.localhost', 'localhost', '127.0.0.1']) {
    await page.goto(`http://${name}:${input.other}/`);
    await page.evaluate(() => fetch('/again'));
  }
  await page.goto(`${input.base}/panel/`);
  const status = (await page.goto(`${input.base}/panel/`)).status();
  const cookie = (await page.context().cookies()).find((c) => c.name === 'tandem_session')?.value;
  await browser.close();
  process.stdout.write(JSON.stringify({ status, cookie }));
})().catch((e) => { process.stderr.write(String(e.stack)); process.exit(1); });
