"""The cases of h5grove's servers with the server of hyperslab; see h5grove_cases.py."""

import base_test
import pytest


class TestHyperslab(base_test.BaseTestEndpoints):
    @pytest.fixture
    def server(self, hyperslab_server):
        yield hyperslab_server
