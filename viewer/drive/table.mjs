// Tables that the page shows.
import assert from 'node:assert/strict';

/** Selects an object in the tree. */
export async function select(page, name) {
  await page.getByRole('treeitem', { name, exact: true }).click();
}

/** Shows the selected dataset in a tab. */
export async function show(page, tab) {
  await page.getByRole('tab', { name: tab, exact: true }).click();
  await page.getByRole('tab', { name: tab, exact: true, selected: true }).waitFor();
}

/** Returns the cells that a table shows, by row and column of the array. */
async function cells(page) {
  await page.waitForFunction(() => document.querySelectorAll('[role=gridcell]').length > 30);
  return page.evaluate(() =>
    [...document.querySelectorAll('[role=gridcell]')].map((cell) => {
      const { transform, width, height } = cell.style;
      // Firefox leaves out a second number that is zero.
      const [x, y = 0] = transform.match(/translate\((.+)\)/)[1].split(',').map(Number.parseFloat);
      const place = [y / Number.parseInt(height), x / Number.parseInt(width)];
      return [...place, cell.textContent.replaceAll('−', '-')];
    }),
  );
}

/** Compares the cells of a table with the values of a function of row and column. */
export async function compare(page, name, value) {
  await select(page, name);
  await show(page, 'Matrix');
  await page.waitForTimeout(500);
  const shown = await cells(page);
  assert.ok(shown.length > 30, `${name}: ${shown.length} cells`);
  for (const [row, column, text] of shown) {
    assert.equal(Number(text), value(row, column), `${name} at ${row}, ${column}`);
  }
  return shown.length;
}
