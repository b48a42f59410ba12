"""The public face: what `from acemem import ...` offers."""

from __future__ import annotations

import inspect

import pytest

import acemem


def test_the_list_of_names_is_sorted_and_whole() -> None:
    """Each name is there, and no other is promised."""
    assert acemem.__all__ == sorted(acemem.__all__)
    assert dir(acemem) == acemem.__all__


@pytest.mark.parametrize("name", acemem.__all__)
def test_each_public_name_exists_and_says_what_it_is(name: str) -> None:
    """A reader of `help()` gets a sentence."""
    thing = getattr(acemem, name)

    assert inspect.isclass(thing)
    assert (inspect.getdoc(thing) or "").split("\n")[0].endswith((".", ":", ";", ","))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As with any module."""
    with pytest.raises(AttributeError, match="nonsense"):
        _ = acemem.nonsense


@pytest.mark.parametrize("name", [n for n in vars(acemem.Memory) if not n.startswith("_")])
def test_each_method_of_memory_is_documented(name: str) -> None:
    """The library is a product, not the command line's backstage."""
    method = inspect.getattr_static(acemem.Memory, name)
    assert inspect.getdoc(getattr(method, "__func__", method))


def test_every_error_has_an_exit_code_of_the_contract() -> None:
    """1 nothing found, 2 wrong usage, 3 bad input, 4 store, 5 model."""
    codes = {
        e: getattr(acemem, e).exit_code for e in ("NotFound", "UsageError", "BadInput", "StoreError", "ModelError")
    }
    assert codes == {"NotFound": 1, "UsageError": 2, "BadInput": 3, "StoreError": 4, "ModelError": 5}
