// Views of arrays with several dimensions: the part of the package `ndarray` that H5Web uses. The
// package itself compiles text to functions, which the security policy of the page forbids.

/** Returns the strides of elements in C order. */
function defaultStride(shape) {
  const stride = new Array(shape.length);
  let size = 1;
  for (let dimension = shape.length - 1; dimension >= 0; dimension -= 1) {
    stride[dimension] = size;
    size *= shape[dimension];
  }
  return stride;
}

function dtypeOf(data) {
  if (Array.isArray(data)) {
    return 'array';
  }
  const name = Object.prototype.toString.call(data).slice(8, -1);
  return ArrayBuffer.isView(data) ? name.replace(/Array$/u, '').toLowerCase() : 'generic';
}

class View {
  constructor(data, shape, stride, offset) {
    this.data = data;
    this.shape = shape;
    this.stride = stride;
    this.offset = offset;
  }

  get dimension() {
    return this.shape.length;
  }

  get size() {
    return this.shape.reduce((size, length) => size * length, 1);
  }

  get dtype() {
    return dtypeOf(this.data);
  }

  /** The dimensions in ascending order of their strides. */
  get order() {
    const order = this.stride.map((_, dimension) => dimension);
    return order.sort((one, two) => Math.abs(this.stride[one]) - Math.abs(this.stride[two]));
  }

  /** Returns the index of an element in the array. Positions after the last dimension do not count. */
  index(...position) {
    let index = this.offset;
    for (let dimension = 0; dimension < this.stride.length; dimension += 1) {
      index += position[dimension] * this.stride[dimension];
    }
    return index;
  }

  get(...position) {
    return this.data[this.index(...position)];
  }

  set(...positionAndValue) {
    const value = positionAndValue[this.stride.length];
    this.data[this.index(...positionAndValue)] = value;
    return value;
  }

  /** Returns the first elements of each dimension. */
  hi(...ends) {
    const shape = this.shape.map((length, dimension) => (ends[dimension] >= 0 ? ends[dimension] : length));
    return new View(this.data, shape, [...this.stride], this.offset);
  }

  /** Returns the elements of each dimension after the first ones. */
  lo(...starts) {
    const skipped = this.shape.map((_, dimension) => Math.max(starts[dimension] ?? 0, 0));
    const shape = this.shape.map((length, dimension) => length - skipped[dimension]);
    return new View(this.data, shape, [...this.stride], this.index(...skipped));
  }

  /** Returns every n-th element of each dimension, backwards if n is negative. */
  step(...steps) {
    const [shape, stride] = [[...this.shape], [...this.stride]];
    let { offset } = this;
    steps.forEach((step, dimension) => {
      if (step < 0) {
        offset += stride[dimension] * (shape[dimension] - 1);
      }
      shape[dimension] = Math.ceil(shape[dimension] / Math.abs(step));
      stride[dimension] *= step;
    });
    return new View(this.data, shape, stride, offset);
  }

  /** Returns the dimensions in another order. */
  transpose(...dimensions) {
    const order = this.shape.map((_, dimension) => dimensions[dimension] ?? dimension);
    const reordered = (values) => order.map((dimension) => values[dimension]);
    return new View(this.data, reordered(this.shape), reordered(this.stride), this.offset);
  }

  /** Returns the elements at an index of some dimensions, which the result does not have. */
  pick(...indexes) {
    const isKept = (dimension) => !(indexes[dimension] >= 0) || indexes[dimension] === null;
    const kept = this.shape.map((_, dimension) => dimension).filter(isKept);
    const position = this.shape.map((_, dimension) => (isKept(dimension) ? 0 : indexes[dimension]));
    const of = (values) => kept.map((dimension) => values[dimension]);
    return new View(this.data, of(this.shape), of(this.stride), this.index(...position));
  }
}

/** Returns a view of the elements of an array. */
export default function ndarray(data, shape = [data.length], stride = defaultStride(shape), offset = 0) {
  return new View(data, [...shape], [...stride], offset);
}

/** Copies the elements of a view to another one of the same shape. */
export function assign(target, source) {
  const { shape } = target;
  const position = new Array(shape.length).fill(0);
  for (let remaining = target.size; remaining > 0; remaining -= 1) {
    target.data[target.index(...position)] = source.data[source.index(...position)];
    for (let dimension = shape.length - 1; dimension >= 0; dimension -= 1) {
      position[dimension] += 1;
      if (position[dimension] < shape[dimension]) {
        break;
      }
      position[dimension] = 0;
    }
  }
}
