"""The pictures of datasets in notebooks."""

from __future__ import annotations

import base64
import re
import struct

import numpy as np
import pytest

import hyperslab


@pytest.mark.parametrize(
    ("shape", "pixels"),
    [((200, 300), (50, 75)), ((96, 96), (96, 96)), ((4, 5000), (4, 95)), ((1, 1), (1, 1))],
)
def test_pictures_keep_proportions(shape: tuple[int, int], pixels: tuple[int, int]) -> None:
    """A picture has one step for both dimensions, except for narrow datasets."""
    with hyperslab.File.in_memory() as file:
        file["a"] = np.zeros(shape)
        found = re.search("base64,([^']+)'", file["a"]._repr_html_())
    assert found is not None
    width, height = struct.unpack(">II", base64.b64decode(found[1])[16:24])
    assert (height, width) == pixels


def test_names_are_escaped() -> None:
    """Names of a file cannot add HTML to a page."""
    with hyperslab.File.in_memory() as file:
        file["<script>"] = np.zeros((2, 2))
        file["<script>"].attrs["<b>"] = 1
        assert "<script>" not in file._repr_html_() + file["<script>"]._repr_html_()
        assert "<b>," not in file["<script>"]._repr_html_() and "&lt;b&gt;" in file["<script>"]._repr_html_()
