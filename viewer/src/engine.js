// The WebAssembly module: it answers the requests of h5grove's protocol from sources of bytes. A
// source has a name, a size, and a function that reads a range. The module says which ranges it
// misses; they are read, and the module is asked once more.

/** The largest number of ranges that are read at the same time. */
const PARALLEL = 6;

/** Returns ranges of one source, joined over gaps of at most `gap` bytes. The ranges are sorted. */
export function joined(ranges, gap) {
  const result = [];
  for (const range of ranges) {
    const last = result.at(-1);
    if (last && range.source === last.source && range.start - last.end <= gap) {
      last.end = range.end;
    } else {
      result.push({ ...range });
    }
  }
  return result;
}

/** Calls `work` for each item, for a few of them at the same time. */
async function each(items, work) {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) {
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, worker));
}

export class Engine {
  #module;
  #exports;
  #sources = [];
  #last = Promise.resolve();

  /** Takes a compiled `WebAssembly.Module`. */
  constructor(module) {
    this.#module = module;
    this.#start();
  }

  #start() {
    this.#exports = new WebAssembly.Instance(this.#module, {}).exports;
    this.#sources.forEach((source) => this.#register(source));
  }

  #input(bytes) {
    const address = this.#exports.hyperslab_input(bytes.length) >>> 0;
    new Uint8Array(this.#exports.memory.buffer, address, bytes.length).set(bytes);
  }

  #register(source) {
    this.#input(new TextEncoder().encode(source.name));
    this.#exports.hyperslab_add(BigInt(source.size));
  }

  /** Adds a source. Requests name it by the parameter `file`. */
  add(source) {
    this.#register(source);
    this.#sources.push(source);
  }

  /** Answers a request, such as `/meta?path=/`, after the requests before it. */
  answer(request, signal) {
    const answer = this.#last.then(() => this.#complete(request, signal));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #complete(request, signal) {
    try {
      for (;;) {
        signal?.throwIfAborted();
        const { status, body } = this.#attempt(request);
        if (status > 0) {
          this.#exports.hyperslab_finish();
          return { status, body };
        }
        await this.#fetch(new BigUint64Array(body.buffer), signal);
      }
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) {
        throw error;
      }
      // The memory of the module is in an unknown state: a new module takes its place.
      this.#start();
      const message = `the reader ended: ${error.message}; the file is damaged, or the memory does not suffice`;
      return { status: 500, body: new TextEncoder().encode(JSON.stringify({ message })) };
    }
  }

  #attempt(request) {
    this.#input(new TextEncoder().encode(request));
    const length = this.#exports.hyperslab_ask() >>> 0;
    const address = this.#exports.hyperslab_output() >>> 0;
    const body = new Uint8Array(this.#exports.memory.buffer, address, length).slice();
    return { status: this.#exports.hyperslab_status(), body };
  }

  async #fetch(numbers, signal) {
    const ranges = [];
    for (let at = 0; at < numbers.length; at += 3) {
      const [source, start, end] = [...numbers.slice(at, at + 3)].map(Number);
      ranges.push({ source, start, end });
    }
    if (ranges.length === 0) {
      throw new Error('the reader misses bytes that do not exist');
    }
    const gap = Math.min(...ranges.map(({ source }) => this.#sources[source].gap ?? 0));
    await each(joined(ranges, gap), async ({ source, start, end }) => {
      const bytes = await this.#sources[source].read(start, end, signal);
      if (bytes.length !== end - start) {
        throw new Error(`${this.#sources[source].name}: ${end - start} bytes are missing at ${start}`);
      }
      this.#input(bytes);
      this.#exports.hyperslab_provide(source, BigInt(start));
    });
  }
}
