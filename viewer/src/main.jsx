// The page of `hyperslab serve`: a file in H5Web, or the list of the served files. The page of
// `hyperslab serve --export-page` has no server, and shows files of the user.
import '@h5web/app/styles.css';
import './list.css';

import { App, H5GroveProvider } from '@h5web/app';
import { createRoot } from 'react-dom/client';

import { FileList } from './FileList.jsx';
import { Local } from './Local.jsx';

// The token is in a cookie now; the address that the user may copy or bookmark must not have it.
const address = new URL(location.href);
if (address.searchParams.has('token')) {
  address.searchParams.delete('token');
  history.replaceState(null, '', address);
}

const root = document.getElementById('viewer');
const api = new URL('api', document.baseURI).href;
const file = address.searchParams.get('file');
const path = address.searchParams.get('path') ?? undefined;
document.title = file ? `${file.split('/').pop()} – hyperslab` : 'hyperslab';

function Page() {
  if (root.dataset.files === 'local') {
    return <Local url={address.searchParams.get('url')} path={path} />;
  }
  if (file) {
    return (
      <H5GroveProvider url={api} filepath={file}>
        <App initialPath={path} />
      </H5GroveProvider>
    );
  }
  return <FileList api={api} folder={address.searchParams.get('folder') ?? ''} />;
}

createRoot(root).render(<Page />);
