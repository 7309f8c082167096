// The page without a server: it shows files that are dropped on it, and files at URLs.
import { App, H5GroveProvider } from '@h5web/app';
import { useEffect, useMemo, useState } from 'react';

import { Client } from './client.js';
import { Files } from './FileList.jsx';

/** The formats that H5Web lets the user save. */
const SAVED = new Set(['npy', 'tiff']);

function Start({ open, message }) {
  const [url, setUrl] = useState('');
  const submit = (event) => {
    event.preventDefault();
    if (url) {
      location.search = new URLSearchParams({ url });
    }
  };
  return (
    <main className="files">
      <h1>HDF5 files</h1>
      <label className="drop">
        Drop HDF5 files here, or choose them.
        <input type="file" multiple onChange={(event) => open({ files: [...event.target.files] })} />
      </label>
      <form onSubmit={submit}>
        <label>
          Address of a file <input type="url" value={url} onChange={(event) => setUrl(event.target.value)} />
        </label>{' '}
        <button type="submit">Open</button>
      </form>
      {message && <p role="status">{message}</p>}
      <p>The files are read in this browser, and their contents leave it nowhere.</p>
    </main>
  );
}

function Shown({ client, name, path }) {
  const fetcher = useMemo(() => client.fetcher(), [client]);
  const exported = (format, dataset, selection, builtIn) => {
    if (builtIn || !SAVED.has(format)) {
      return undefined;
    }
    const params = { file: name, path: dataset.path, format, ...(selection && { selection }) };
    return async () => new Blob([await client.get('/data', params)]);
  };
  return (
    <H5GroveProvider url="" filepath={name} fetcher={fetcher} getExportURL={exported}>
      <App initialPath={path} />
    </H5GroveProvider>
  );
}

export function Local({ url, path }) {
  const client = useMemo(() => new Client(), []);
  const [state, setState] = useState({ entries: [], name: null, message: url ? 'Loading…' : '' });
  const open = useMemo(() => {
    return async (sources) => {
      try {
        const entries = await client.open(sources);
        setState({ entries, name: entries.length === 1 ? entries[0].name : null, message: '' });
      } catch (error) {
        setState({ entries: [], name: null, message: error.message });
      }
    };
  }, [client]);
  useEffect(() => {
    if (url) {
      open({ url });
    }
    const over = (event) => event.preventDefault();
    const drop = (event) => {
      event.preventDefault();
      if (event.dataTransfer.files.length > 0) {
        open({ files: [...event.dataTransfer.files] });
      }
    };
    window.addEventListener('dragover', over);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('drop', drop);
    };
  }, [open, url]);
  useEffect(() => {
    document.title = state.name ? `${state.name} – hyperslab` : 'hyperslab';
  }, [state.name]);
  if (state.name !== null) {
    return <Shown key={state.name} client={client} name={state.name} path={path} />;
  }
  if (state.entries.length > 0) {
    const choose = (entry) => setState({ ...state, name: entry.name });
    return (
      <main className="files">
        <h1>HDF5 files</h1>
        <Files entries={state.entries} choose={choose} />
      </main>
    );
  }
  return <Start open={open} message={state.message} />;
}
