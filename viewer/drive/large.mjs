// Measures how long the page without a server takes to show the tree of a large local file, and of a
// file at a URL, and compares numbers at addresses that 32 bits do not hold.
//
//     node large.mjs ADDRESS FILE [NAME]
//
// FILE is a file of crates/serve/examples/shown.rs with a large dataset, and is chosen in the page.
// NAME is a file beside the page, which is read by ranges.
import assert from 'node:assert/strict';

import { start } from './browser.mjs';
import { compare, select } from './table.mjs';

const ROUNDS = 5;
/** The largest time to the tree in milliseconds, and the largest number of requests to it. */
const MOST_TIME = 1000;
const MOST_REQUESTS = 10;

const [, , address, file, name] = process.argv;
const { browser, page, complaints } = await start('chromium');

/** Returns the milliseconds until the tree is there. */
async function timeToTree(open) {
  const started = performance.now();
  await open();
  await page.getByRole('treeitem', { name: 'matrix', exact: true }).waitFor();
  return Math.round(performance.now() - started);
}

/** Returns the median of the times of several rounds, and prints them. */
function judged(what, times) {
  const median = times.toSorted((one, two) => one - two)[Math.floor(times.length / 2)];
  console.log(`${what}: the tree after ${median} ms (median of ${times.join(', ')})`);
  return median;
}

/** Compares the numbers of the dataset that is after the large one. */
async function compareLate() {
  await select(page, 'after');
  return compare(page, 'late', (row, column) => (row * 10 + column) * 7 + 1);
}

const times = [];
let compared = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  await page.goto(address);
  await page.locator('.drop').waitFor();
  // A user needs longer than this to choose a file.
  await page.waitForTimeout(1000);
  times.push(await timeToTree(() => page.locator('input[type=file]').setInputFiles(file)));
}
compared += await compareLate();
const local = judged('a local file', times);

if (name) {
  const remote = [];
  let counts = { requests: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    await (await fetch(`${address}requests`)).json();
    remote.push(await timeToTree(() => page.goto(`${address}?url=${address}${name}`)));
    await page.waitForTimeout(500);
    counts = await (await fetch(`${address}requests`)).json();
  }
  judged('a file at a URL, with the page itself', remote);
  console.log(`a file at a URL: ${counts.requests} requests, ${counts.bytes} bytes`);
  assert.ok(counts.requests > 0 && counts.requests <= MOST_REQUESTS, `${counts.requests} requests`);
  compared += await compareLate();
}
console.log(`${compared} numbers beyond 4 GiB equal those of the file`);
assert.ok(local <= MOST_TIME, `${local} ms`);
assert.deepEqual(complaints, []);
await browser.close();
