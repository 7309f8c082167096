// The worker of the page without a server: it opens sources, and answers requests.
import { Engine } from './engine.js';
import { fileSource, urlSource } from './sources.js';

const running = new Map();

async function load() {
  const response = await fetch(new URL('hyperslab.wasm', self.location));
  if (!response.ok) {
    throw new Error(`hyperslab.wasm: the server answers ${response.status}`);
  }
  // Servers that do not know the type of WebAssembly are common.
  return new Engine(await WebAssembly.compile(await response.arrayBuffer()));
}

// The module is there before the user has chosen a file.
let engine = load();
engine.catch(() => {
  engine = undefined;
});

const tasks = {
  async open({ files, url }) {
    const sources = url ? [await urlSource(url)] : files.map((file) => fileSource(file));
    engine ??= load();
    const loaded = await engine;
    sources.forEach((source) => loaded.add(source));
    return sources.map(({ name, size }) => ({ name, size, kind: 'file', modified: null }));
  },
  async answer({ request }, signal) {
    return (await engine).answer(request, signal);
  },
};

self.onmessage = async ({ data: { id, task, ...rest } }) => {
  if (task === 'cancel') {
    running.get(id)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const result = await tasks[task](rest, controller.signal);
    self.postMessage({ id, result }, result.body ? [result.body.buffer] : []);
  } catch (error) {
    self.postMessage({ id, error: error.message });
  } finally {
    running.delete(id);
  }
};
