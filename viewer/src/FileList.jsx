// The list of the files and folders of a folder.
import { useEffect, useState } from 'react';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Returns a size with three digits and a unit. */
function shownSize(bytes) {
  const power = bytes > 0 ? Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1) : 0;
  const size = bytes / 1024 ** power;
  return `${power > 0 ? size.toPrecision(3) : size} ${UNITS[power]}`;
}

/** Returns the address of this page for a file or a folder. */
function addressOf(parameter, name) {
  return name ? `?${new URLSearchParams({ [parameter]: name })}` : '?';
}

function Parents({ folder }) {
  const parts = folder.split('/').filter(Boolean);
  return (
    <nav aria-label="Folders">
      <a href={addressOf('folder', '')}>files</a>
      {parts.map((part, index) => {
        const name = parts.slice(0, index + 1).join('/');
        return (
          <span key={name}>
            {' / '}
            <a href={addressOf('folder', name)}>{part}</a>
          </span>
        );
      })}
    </nav>
  );
}

function Row({ entry, choose }) {
  const isFile = entry.kind === 'file';
  const name = entry.name.split('/').pop();
  const shown = isFile ? name : `${name}/`;
  return (
    <tr>
      <td>
        {choose ? (
          <button type="button" onClick={() => choose(entry)}>
            {shown}
          </button>
        ) : (
          <a href={addressOf(entry.kind, entry.name)}>{shown}</a>
        )}
      </td>
      <td className="number">{isFile ? shownSize(entry.size) : ''}</td>
      <td>{entry.modified === null ? '' : new Date(entry.modified * 1000).toLocaleString()}</td>
    </tr>
  );
}

/** A table of files and folders: links, or buttons that call `choose`. */
export function Files({ entries, choose }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className="number">
            Size
          </th>
          <th scope="col">Modified</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.name} entry={entry} choose={choose} />
        ))}
      </tbody>
    </table>
  );
}

export function FileList({ api, folder }) {
  const [state, setState] = useState({ entries: [], message: 'Loading…' });
  useEffect(() => {
    const load = async () => {
      const response = await fetch(`${api}/list?${new URLSearchParams({ folder })}`);
      const answer = await response.json();
      if (!response.ok) {
        throw new Error(answer.message);
      }
      setState({ entries: answer, message: answer.length > 0 ? '' : 'The folder has no HDF5 files.' });
    };
    load().catch((error) => setState({ entries: [], message: error.message }));
  }, [api, folder]);
  return (
    <main className="files">
      <h1>HDF5 files</h1>
      <Parents folder={folder} />
      {state.message && <p role="status">{state.message}</p>}
      {state.entries.length > 0 && <Files entries={state.entries} />}
    </main>
  );
}
