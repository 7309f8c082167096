// Files on servers of other origins than that of the page: which of them the page shows, and its
// messages for the others.
//
//     node remote.mjs BROWSER ADDRESS FILE [--pictures FOLDER]
//
// ADDRESS is that of the page without a server, FILE one of crates/serve/examples/shown.rs.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { start } from './browser.mjs';
import { startHosts } from './hosts.mjs';
import { compare, select } from './table.mjs';

const [, , browserName, address, file, ...rest] = process.argv;
const pictures = rest[rest.indexOf('--pictures') + 1];
const { browser, page } = await start(browserName);
const hosts = await startHosts(readFileSync(file));

async function picture(name) {
  if (pictures) {
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
}

async function open(url) {
  await page.goto(`${address}?url=${encodeURIComponent(url)}`);
}

/** Opens a file, and compares the numbers of a dataset. */
async function opens(path) {
  await open(hosts.address + path);
  const count = await compare(page, 'matrix', (row, column) => (row * 10 + column) * 3 - 50);
  console.log(`${browserName}: ${path}: ${count} numbers, ${hosts.state.counts[path]} requests`);
}

/** Opens a file that the page cannot show, and reads the message. */
async function refuses(url, message, name) {
  await open(url);
  const shown = await page.locator('[role=status]').filter({ hasNotText: 'Loading' }).textContent();
  assert.match(shown, message);
  console.log(`${browserName}: ${shown.replace(hosts.address, '')}`);
  await picture(name);
}

for (const path of ['/good.h5', '/plain.h5', '/whole.h5', '/unversioned.h5']) {
  await opens(path);
}
await refuses(`${hosts.address}/foreign.h5`, /does not allow pages of other sites/u, 'foreign');
await refuses(`${hosts.address}/huge.h5`, /does not send ranges.*more than the 512 MiB/u, 'huge');
await refuses(`${hosts.address}/none.h5`, /the server answers 404/u, 'missing');
await refuses('http://127.0.0.1:9/a.h5', /cannot be reached/u, 'unreached');

// The file is replaced between the tree and the numbers.
await open(`${hosts.address}/replaced.h5`);
await page.getByRole('treeitem', { name: 'matrix', exact: true }).waitFor();
hosts.state.version = 2;
await select(page, 'wide');
await page.getByText(/has changed since it was opened/u).first().waitFor();
console.log(`${browserName}: a replaced file is an error`);
await picture('replaced');
await browser.close();
hosts.close();
console.log(`${browserName}: passed`);
