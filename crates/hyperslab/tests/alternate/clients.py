"""Files of packages that build on libhdf5: `make NAME PATH` writes one, `verify NAME PATH` reads it with the package again.

Both print `missing` where the package cannot be imported.
"""

import sys


def tables_make(path):
    import numpy as np
    import tables

    class Row(tables.IsDescription):
        name = tables.StringCol(8)
        count = tables.Int32Col()
        energy = tables.Float64Col(shape=(3,))

    with tables.open_file(path, "w", title="a file") as file:
        group = file.create_group("/", "detector", "a group")
        table = file.create_table(group, "readout", Row, filters=tables.Filters(complevel=5, complib="zlib", shuffle=True))
        for number in range(300):
            row = table.row
            row["name"], row["count"], row["energy"] = f"p{number}", number, [number, number / 2, -number]
            row.append()
        table.flush()
        table.cols.count.create_index()
        grown = file.create_earray(group, "grown", tables.Int16Atom(), (0, 4), chunkshape=(16, 4))
        grown.append(np.arange(200, dtype="i2").reshape(50, 4))
        ragged = file.create_vlarray(group, "ragged", tables.Int32Atom())
        for number in range(20):
            ragged.append(list(range(number)))
        file.create_array("/", "plain", np.arange(30.0).reshape(5, 6))


def tables_verify(path):
    import numpy as np
    import tables

    with tables.open_file(path) as file:
        table = file.root.detector.readout
        assert len(table) == 300 and [row["count"] for row in table.where("count > 290")] == list(range(291, 300))
        assert (file.root.detector.grown[:] == np.arange(200).reshape(50, 4)).all()
        assert [len(row) for row in file.root.detector.ragged] == list(range(20))
        assert (file.root.plain[:] == np.arange(30.0).reshape(5, 6)).all()


def netCDF4_make(path):
    import netCDF4
    import numpy as np

    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 7)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "hours since 2000-01-01"
        value = file.createVariable("value", "f4", ("time", "x"), zlib=True, shuffle=True, fill_value=-1.0)
        time[:] = np.arange(12)
        value[:] = np.arange(84).reshape(12, 7)
        inner = file.createGroup("inner")
        inner.createVariable("words", str, ("x",))[:] = np.array([f"word {n}" for n in range(7)], dtype=object)
        file.setncatts({"title": "a file", "version": np.int32(3)})


def netCDF4_verify(path):
    import netCDF4
    import numpy as np

    with netCDF4.Dataset(path) as file:
        assert (file["value"][:] == np.arange(84).reshape(12, 7)).all() and file["time"].units.startswith("hours")
        assert list(file["inner/words"][:]) == [f"word {n}" for n in range(7)]
        assert file["value"].dimensions == ("time", "x") and file.title == "a file"


def anndata_make(path):
    import anndata
    import numpy as np
    import pandas
    import scipy.sparse

    cells = pandas.DataFrame({"kind": pandas.Categorical(["a", "b", "a", "c"] * 10), "size": np.arange(40.0)},
                             index=[f"cell {n}" for n in range(40)])
    genes = pandas.DataFrame(index=[f"gene {n}" for n in range(9)])
    counts = scipy.sparse.csr_matrix(np.arange(360).reshape(40, 9) % 5)
    found = anndata.AnnData(X=counts, obs=cells, var=genes)
    found.layers["dense"] = np.arange(360.0).reshape(40, 9)
    found.uns["note"] = {"text": "words", "number": 3}
    found.write_h5ad(path, compression="gzip")


def anndata_verify(path):
    import h5py
    import numpy as np
    from anndata.io import read_elem

    # The whole is not read at once: that refuses what stands beside its own groups.
    with h5py.File(path) as file:
        assert (read_elem(file["X"]).toarray() == np.arange(360).reshape(40, 9) % 5).all()
        assert (read_elem(file["layers/dense"]) == np.arange(360.0).reshape(40, 9)).all()
        cells = read_elem(file["obs"])
        assert list(cells["kind"][:4]) == ["a", "b", "a", "c"] and list(cells.index[:2]) == ["cell 0", "cell 1"]
        assert read_elem(file["uns"])["note"]["text"] == "words" and len(read_elem(file["var"])) == 9


def frame():
    import numpy as np
    import pandas

    words = [f"word {n % 7}" for n in range(90)]
    return pandas.DataFrame({"n": np.arange(90), "x": np.arange(90) / 3, "words": words})


def pandas_make(path):
    import pandas
    import tables  # noqa: F401

    frame().to_hdf(path, key="fixed", mode="w")
    frame().to_hdf(path, key="in a table".replace(" ", "_"), format="table", data_columns=["n"], complevel=4)
    with pandas.HDFStore(path) as store:
        store.append("in_a_table", frame())


def pandas_verify(path):
    import pandas

    assert pandas.read_hdf(path, "fixed").equals(frame())
    found = pandas.read_hdf(path, "in_a_table", where="n >= 80")
    assert len(found) == 20 and len(pandas.read_hdf(path, "in_a_table")) == 180


def main():
    task, name, path = sys.argv[1:]
    try:
        __import__(name)
    except ImportError:
        print("missing")
        return
    globals()[f"{name}_{task}"](path)
    print("done")


main()
