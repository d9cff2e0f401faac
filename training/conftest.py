"""Fixtures of the tests that pack a training: each has a folder of its own, the fixture `packed`."""

import importlib.util

import pytest


@pytest.fixture(scope="module")
def train(packed):
    """train.py as it lies in the folder."""
    spec = importlib.util.spec_from_file_location("packed_train", packed / "train.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(packed, train):
    return train.Rows(packed)
