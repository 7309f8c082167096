// Compares the views of arrays with those of the package `ndarray`.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import ndarray, { assign } from '../src/ndarray.js';

// The packages that H5Web depends on, from its folder.
const require = createRequire(createRequire(import.meta.url).resolve('@h5web/app'));
const theirs = { ndarray: require('ndarray'), assign: require('ndarray-ops').assign };

const data = Float64Array.from({ length: 24 }, (_, index) => index * 1.5);

/** Returns the properties and all elements of a view. */
function contents(view) {
  const elements = [];
  const visit = (position) => {
    if (position.length === view.shape.length) {
      elements.push(view.get(...position));
      return;
    }
    for (let index = 0; index < view.shape[position.length]; index += 1) {
      visit([...position, index]);
    }
  };
  visit([]);
  return { shape: [...view.shape], size: view.size, dimension: view.dimension, dtype: view.dtype, elements };
}

const views = [
  (view) => view(data),
  (view) => view([1, 2, 3]),
  (view) => view([5], []),
  (view) => view(data, [4, 6]),
  (view) => view(data, [2, 3, 4]).pick(1, null, -1),
  (view) => view(data, [2, 3, 4]).pick(null, 2),
  (view) => view(data, [2, 3, 4]).pick(1, 2, 3),
  (view) => view(data, [2, 3, 4]).transpose(2, 0, 1),
  (view) => view(data, [4, 6]).hi(2, 3),
  (view) => view(data, [4, 6]).lo(1, 2),
  (view) => view(data, [4, 6]).step(2, -1),
  (view) => view(data, [4, 6]).step(-2),
  (view) => view(data, [4, 6]).lo(1).hi(2, 2).transpose(1, 0),
];

for (const make of views) {
  test(make.toString(), () => {
    assert.deepEqual(contents(make(ndarray)), contents(make(theirs.ndarray)));
  });
}

test('positions after the last dimension do not count', () => {
  assert.equal(ndarray(data).get(3, 7), theirs.ndarray(data).get(3, 7));
});

test('elements are copied and set', () => {
  const copy = (view, copyTo) => {
    const target = view(new Float64Array(24), [6, 4]);
    copyTo(target, view(data, [4, 6]).transpose(1, 0));
    target.set(1, 2, 99);
    return contents(target);
  };
  assert.deepEqual(copy(ndarray, assign), copy(theirs.ndarray, theirs.assign));
});
