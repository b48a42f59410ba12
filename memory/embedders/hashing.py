"""An embedder without a model: words and pieces of words, hashed into a vector.

It knows spelling and nothing of meaning: "delete the branch" and "remove the branch" are as close as their common words
make them, and "Always use tabs" is nearly "Never use tabs". It is meant for tests, which need vectors that are fast and
the same everywhere, and for machines where ONNX Runtime does not install. Search still works there, as word overlap.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from acemem.memory.embedders.base import Calibration, Fingerprint
from acemem.memory.errors import UsageError

REVISION = "1"
DEFAULT_DIMENSION = 384
SMALLEST_DIMENSION = 8
LARGEST_DIMENSION = 65_536

WORD = re.compile(r"\w+")
PIECE_LENGTHS = (3, 4)
WORD_WEIGHT, PAIR_WEIGHT, PIECE_WEIGHT = 1.0, 0.5, 0.25

# Measured as for the default embedder, at 384 dimensions. From 0.70 on, labelled pairs are duplicates about as often as
# they are for that one from 0.85 on (44 duplicates to 7 different ones; 59 to 11 there), but half of all are missed.
CALIBRATION = Calibration(unrelated=0.16, same=0.38, duplicate=0.70, floor=0.65, growth=0.33)


class HashingEmbedder:
    """Deterministic vectors from spelling alone: words, neighbouring words, and pieces of 3 and 4 characters.

    The same text gives the same bits in every process and on every machine. Each feature adds its weight, times the
    square root of how often it occurs, to one place of the vector with a sign that its hash decides.
    """

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        """Vectors of `dimension` numbers, 8 to 65536; fewer mean more features on one place. Raises UsageError."""
        if not SMALLEST_DIMENSION <= dimension <= LARGEST_DIMENSION:
            raise UsageError(
                f"The dimension of a hashing embedder is {SMALLEST_DIMENSION} to {LARGEST_DIMENSION}, got {dimension}. "
                f"Use 'hashing' for {DEFAULT_DIMENSION}."
            )
        self._dimension = dimension

    @property
    def fingerprint(self) -> Fingerprint:
        """Named "hashing:DIMENSION"; there are no weights, so the sha256 is over that name and the revision."""
        name = f"hashing:{self._dimension}"
        digest = hashlib.sha256(f"acemem {name} {REVISION}".encode()).hexdigest()
        return Fingerprint(name, REVISION, self._dimension, digest)

    @property
    def calibration(self) -> Calibration:
        """What these cosines mean, measured on the same pairs as the default embedder's, at 384 dimensions."""
        return CALIBRATION

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of `texts`: (len(texts), dimension) float32, rows of length 1, in the same order."""
        vectors = np.empty((len(texts), self._dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.embed_query(text)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of `text`: (dimension,) float32, length 1; equal to its document vector."""
        counts = Counter(features(text))
        # A text without a single word (empty, only punctuation) is one feature, so that it has a direction too.
        if not counts:
            counts = Counter([("whole", text, WORD_WEIGHT)])
        vector = [0.0] * self._dimension
        for (kind, value, weight), count in counts.items():
            place, sign = self._place(kind, value)
            vector[place] += sign * weight * math.sqrt(count)
        # fsum is exact, so the length does not depend on how a machine's numpy groups a sum.
        length = math.sqrt(math.fsum(x * x for x in vector))
        if length == 0.0:  # every feature was cancelled by another one
            place, sign = self._place("whole", text)
            vector[place], length = sign, 1.0
        return (np.array(vector) / length).astype(np.float32)

    def _place(self, kind: str, value: str) -> tuple[int, float]:
        digest = hashlib.blake2b(f"{kind} {value}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        return (number >> 1) % self._dimension, 1.0 if number & 1 else -1.0


def features(text: str) -> Iterator[tuple[str, str, float]]:
    """What a text is hashed by, each as (kind, value, weight), repeated as often as it occurs.

    Case and compatibility forms of letters are folded first, so "ＡＢＣ" and "abc" have the same features.
    """
    words = WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    for word in words:
        yield "word", word, WORD_WEIGHT
        edged = f"<{word}>"
        for length in PIECE_LENGTHS:
            for start in range(len(edged) - length + 1):
                yield "piece", edged[start : start + length], PIECE_WEIGHT
    for first, second in zip(words, words[1:], strict=False):
        yield "pair", f"{first} {second}", PAIR_WEIGHT
