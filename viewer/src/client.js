// The page's side of the worker, and a fetcher of H5Web that asks it.
import { createAxiosFetcher } from '@h5web/app';

export class Client {
  #worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });
  #waiting = new Map();
  #next = 0;

  constructor() {
    this.#worker.onmessage = ({ data: { id, result, error } }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) {
        waiting?.resolve(result);
      } else {
        waiting?.reject(new Error(error));
      }
    };
    this.#worker.onerror = () => {
      this.#waiting.forEach(({ reject }) => reject(new Error('the reader of files cannot be loaded')));
      this.#waiting.clear();
    };
  }

  #call(message, signal) {
    this.#next += 1;
    const id = this.#next;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      signal?.addEventListener('abort', () => {
        this.#worker.postMessage({ id, task: 'cancel' });
        this.#waiting.delete(id);
        reject(signal.reason);
      });
      this.#worker.postMessage({ ...message, id });
    });
  }

  /** Opens files, or the file at a URL. Returns their names and sizes. */
  open({ files, url }) {
    return this.#call({ task: 'open', files, url });
  }

  /** Returns the bytes of an answer. A failure has the form of those of axios, which H5Web knows. */
  async get(url, params, signal) {
    const request = `${url}?${new URLSearchParams(params)}`;
    const { status, body } = await this.#call({ task: 'answer', request }, signal);
    if (status === 200) {
      return body.buffer;
    }
    const response = { status, statusText: '', data: body.buffer };
    throw Object.assign(new Error(`the answer is ${status}`), { isAxiosError: true, response });
  }

  /** Returns the fetcher for H5Web. */
  fetcher() {
    const get = async (url, { params, signal }) => ({ data: await this.get(url, params, signal) });
    return createAxiosFetcher({ defaults: { params: {} }, get });
  }
}
