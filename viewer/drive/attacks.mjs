// Attacks on `hyperslab serve` by pages in a real browser, whose user has opened the page of the
// server and has its cookie.
//
//     node attacks.mjs ADDRESS
//
// ADDRESS is the address with the token that `hyperslab serve FILE` printed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { start } from './browser.mjs';

const address = new URL(process.argv[2]);
const token = address.searchParams.get('token');
const target = address.origin;
const { browser, page } = await start('chromium', ['--host-resolver-rules=MAP evil.example 127.0.0.1']);
const context = page.context();
let checks = 0;

/** Counts a check that did not fail. */
function check(condition, message) {
  assert.ok(condition, message);
  checks += 1;
}

// The user opens the page.
await page.goto(address.href);
await page.getByRole('treeitem', { name: 'matrix', exact: true }).waitFor();
check(!page.url().includes(token), 'the address keeps the token');
check((await page.evaluate(() => document.cookie)) === '', 'scripts can read the cookie');
const cookies = await context.cookies(target);
check(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === 'Strict', JSON.stringify(cookies));

// A page whose name leads to the server (DNS rebinding), even with the token.
const rebound = target.replace(address.hostname, 'evil.example');
for (const path of [`/?token=${token}`, `/api/meta?path=/&token=${token}`, `/t/${token}/`, '/healthz', '/files/shown.h5']) {
  const answer = await page.goto(rebound + path);
  check(answer.status() === 403, `${path}: ${answer.status()}`);
  check((await answer.text()).includes('no name of this server'), path);
}

// Pages of other origins: another port of the same machine, to which the cookie goes, and another site.
const server = createServer((_, response) => {
  response.writeHead(200, { 'Content-Type': 'text/html' });
  response.end('<!doctype html><title>attacker</title>');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const statuses = [];
context.on('response', (response) => {
  if (response.url().startsWith(target)) {
    statuses.push(response.status());
  }
});
for (const host of ['127.0.0.1', 'evil.example']) {
  await page.goto(`http://${host}:${port}/`);
  for (const path of ['/api/meta?path=/', '/api/data?path=/matrix', '/files/shown.h5', '/api/list']) {
    for (const mode of ['cors', 'no-cors']) {
      statuses.length = 0;
      const got = await page.evaluate(
        ([url, mode]) =>
          fetch(url, { mode, credentials: 'include' })
            .then(async (response) => `${response.type} ${(await response.text()).length}`)
            .catch(() => 'refused'),
        [target + path, mode],
      );
      check(got === 'refused' || got === 'opaque 0', `${host} ${path} ${mode}: ${got}`);
      check(
        statuses.every((status) => status === 401 || status === 403),
        `${host} ${path} ${mode}: ${statuses}`,
      );
    }
  }
  // Frames, images and scripts.
  const loads = await page.evaluate(async (url) => {
    const loaded = (kind, attribute, address) =>
      new Promise((resolve) => {
        const element = document.createElement(kind);
        element.onload = () => resolve(true);
        element.onerror = () => resolve(false);
        element[attribute] = address;
        document.body.append(element);
      });
    return [
      await loaded('script', 'src', `${url}/page/viewer.js`),
      await loaded('img', 'src', `${url}/api/data?path=/matrix&format=tiff`),
    ];
  }, target);
  check(loads.every((load) => !load), `${host}: ${loads}`);
  await page.evaluate((url) => {
    const frame = document.createElement('iframe');
    frame.src = url;
    document.body.append(frame);
  }, target);
  await page.waitForTimeout(1500);
  const inner = page.frames().find((frame) => frame !== page.mainFrame());
  const trees = await inner.locator('[role=treeitem]').count().catch(() => 0);
  check(trees === 0, `${host}: the page is in a frame`);
}

// Another user of the machine, without the cookie.
const stranger = await browser.newPage();
for (const path of ['/', '/api/meta?path=/', '/files/shown.h5', '/page/viewer.js', '/?token=wrong']) {
  const answer = await stranger.goto(target + path);
  check(answer.status() === 401, `${path}: ${answer.status()}`);
}
await browser.close();
server.closeAllConnections();
server.close();
console.log(`chromium: ${checks} checks of attacks passed`);
