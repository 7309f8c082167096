// Measures how long the page without a server takes to show the tree of a large local file, and of a
// file at a URL.
//
//     node large.mjs ADDRESS FILE [NAME]
//
// FILE is chosen in the page. NAME is a file beside the page, which is read by ranges.
import playwright from 'playwright-core';

const [, , address, file, name] = process.argv;
const browser = await playwright.chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--disable-background-networking', '--no-first-run'],
});
const page = await browser.newPage();
page.setDefaultTimeout(60_000);
await page.goto(address);
await page.locator('.drop').waitFor();
let started = Date.now();
await page.locator('input[type=file]').setInputFiles(file);
await page.getByRole('treeitem', { name: 'matrix', exact: true }).waitFor();
console.log(`a local file: the tree after ${Date.now() - started} ms`);
started = Date.now();
await page.getByRole('treeitem', { name: 'matrix', exact: true }).click();
await page.locator('canvas').first().waitFor();
console.log(`a local file: the first picture after another ${Date.now() - started} ms`);
if (name) {
  await (await fetch(`${address}requests`)).json();
  started = Date.now();
  await page.goto(`${address}?url=${address}${name}`);
  await page.getByRole('treeitem', { name: 'matrix', exact: true }).waitFor();
  const time = Date.now() - started;
  const { requests, bytes } = await (await fetch(`${address}requests`)).json();
  console.log(`a file at a URL: the tree after ${time} ms, ${requests} requests, ${bytes} bytes`);
}
await browser.close();
