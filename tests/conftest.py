"""Servers that tests share, started when the first test asks and ended with the session."""

import pytest

pytest.register_assert_rewrite("tests.contracts.kv_contract", "tests.contracts.blob_contract")
