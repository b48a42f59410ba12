"""The contract every embedder keeps, and the two records that a store writes down about the one it was made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from acemem.memory.errors import StoreError


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Which embedder made a vector: vectors of two embedders are comparable only if their fingerprints are equal.

    name: what `acemem.memory.embedders.catalog.load` takes ("minilm", "sentence-transformers:intfloat/e5-small").
    revision: changes whenever the same name begins to give other vectors.
    dimension: length of a vector, at least 1.
    sha256: 64 hexadecimal digits over the weights, or over the recipe where there are none.
    """

    name: str
    revision: str
    dimension: int
    sha256: str

    def __str__(self) -> str:
        """One line for people: name, revision, dimension and the first digits of the weights' sha256."""
        return f"{self.name}@{self.revision} ({self.dimension} dimensions, sha256 {self.sha256[:12]})"

    def to_dict(self) -> dict[str, str | int]:
        """The fingerprint as a JSON object; `from_dict` reads it back to an equal one."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Fingerprint:
        """Read what `to_dict` wrote; unknown keys are ignored.

        Raises StoreError naming the key that is missing or of the wrong type.
        """
        return cls(
            name=_text(data, "name"),
            revision=_text(data, "revision"),
            dimension=_whole(data, "dimension"),
            sha256=_text(data, "sha256"),
        )


@dataclass(frozen=True, slots=True)
class Calibration:
    """What cosines mean for one embedder, since 0.85 says "duplicate" for one model and "same subject" for another.

    The first three are cosines, -1 to 1, between a query or bullet and a bullet.

    unrelated: 95 of 100 pairs that have nothing to do with each other lie below this.
    same: the median of two wordings of one statement.
    duplicate: from here on a pair is worth a look as a duplicate; it proposes, it does not decide.
    floor: how much on the subject of a question the best of 1,000 bullets must be for any to be shown, on the scale of
        `acemem.retrieval.relevance`; 19 of 20 unrelated questions stay below.
    growth: what each tenfold number of bullets adds to the floor.
    """

    unrelated: float
    same: float
    duplicate: float
    floor: float
    growth: float

    def to_dict(self) -> dict[str, float]:
        """The calibration as a JSON object; `from_dict` reads it back to an equal one."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Calibration:
        """Read what `to_dict` wrote; unknown keys are ignored.

        Raises StoreError naming the key that is missing or of the wrong type.
        """
        return cls(
            unrelated=_number(data, "unrelated"),
            same=_number(data, "same"),
            duplicate=_number(data, "duplicate"),
            floor=_number(data, "floor"),
            growth=_number(data, "growth"),
        )


class Embedder(Protocol):
    """Turns texts into vectors of length 1, so that a dot product is a cosine.

    Any string is a text: empty, with NUL characters, with lone surrogates. The same text gives the same vector (within
    1e-3 of cosine) whatever it is embedded together with, in whatever order and process. Another machine or another
    version of the model's runtime may round differently; how far that goes is the embedder's to say.
    Implementations may be called from several threads at once.
    """

    @property
    def fingerprint(self) -> Fingerprint:
        """Which embedder this is; a store refuses any other than the one it was made with."""
        ...

    @property
    def calibration(self) -> Calibration:
        """What this embedder's cosines mean."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of bullets: (len(texts), dimension), float32, rows of length 1, in the order of `texts`.

        No texts give an array of shape (0, dimension). Raises ModelError if the model is missing or broken.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a search text: (dimension,), float32, length 1.

        Some models embed queries and documents differently, so this need not equal the text's document vector.
        Raises ModelError if the model is missing or broken.
        """
        ...


def encodable(text: str) -> str:
    """`text` with a question mark for every lone surrogate.

    Such a character has no UTF-8 form, and tokenizers take nothing else.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def _value(data: Mapping[str, object], key: str) -> object:
    if key not in data:
        raise StoreError(f"The store's record of its embedder has no {key!r}; found {sorted(data)}. Run: mem doctor")
    return data[key]


def _wrong(key: str, value: object, expected: str) -> StoreError:
    return StoreError(
        f"The store's record of its embedder says {key} = {value!r}, expected {expected}. Run: mem doctor"
    )


def _text(data: Mapping[str, object], key: str) -> str:
    value = _value(data, key)
    if not isinstance(value, str):
        raise _wrong(key, value, "text")
    return value


def _whole(data: Mapping[str, object], key: str) -> int:
    value = _value(data, key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _wrong(key, value, "a whole number from 1")
    return value


def _number(data: Mapping[str, object], key: str) -> float:
    value = _value(data, key)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not -1.0 <= value <= 1.0:
        raise _wrong(key, value, "a number from -1 to 1")
    return float(value)
