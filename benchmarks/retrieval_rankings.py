"""The ways of ranking that the retrieval benchmark compares: baselines, and ours with one part taken out or put in."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from acemem.memory.function_words import ENGLISH
from acemem.memory.words import asked, words
from acemem.retrieval.relevance import relevance
from acemem.retrieval.weights import DEFAULT_WEIGHTS, RankingWeights

Scores = NDArray[np.float64]
Ranking = Callable[["Question"], Scores]


class Bm25:
    """BM25 as the textbooks have it."""

    def __init__(self, documents: Sequence[Sequence[str]], k1: float, b: float) -> None:
        lengths = np.array([len(document) for document in documents], np.float64)
        self._norms = k1 * (1 - b + b * lengths / max(1.0, lengths.mean()))
        self._k1 = k1
        self._count = len(documents)
        found: dict[str, list[tuple[int, int]]] = {}
        for at, document in enumerate(documents):
            for word, times in Counter(document).items():
                found.setdefault(word, []).append((at, times))
        self._postings = {word: np.array(rows).T for word, rows in found.items()}

    def scores(self, query: Sequence[str]) -> Scores:
        """One for each document."""
        scores = np.zeros(self._count)
        for word in dict.fromkeys(query):
            if word in self._postings:
                rows, times = self._postings[word]
                rarity = math.log1p((self._count - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += rarity * times * (self._k1 + 1) / (times + self._norms[rows])
        return scores


class Corpus:
    """Texts that are bullets of one scope of a store, with everything a way of ranking may ask for."""

    def __init__(self, memory: Any, scope: str, texts: Sequence[str]) -> None:
        bullets = memory.add(list(texts), scope=scope, merge=False)
        self.memory = memory
        self.scope = scope
        self.at = {bullet.id: at for at, bullet in enumerate(bullets)}
        self.vectors = memory.home.vectors(bullets)
        self.calibration = memory.home.embedder.calibration
        shelf = memory.home.store.shelf(f"scope = '{scope}'")
        self._order = [self.at[id] for id in shelf.ids]
        self._shelf = shelf
        plain = [re.findall(r"\w+", text.lower()) for text in texts]
        self.raw = Bm25(plain, 1.5, 0.75)
        self.tuned = Bm25([words(text) for text in texts], 1.2, 0.4)
        self.unstemmed = Bm25([[word for word in text if word not in ENGLISH] for text in plain], 0.0, 0.0)
        self.every_word = Bm25(plain, 0.0, 0.0)
        headed = [f"{scope.partition(':')[2]} - Project facts: {text}" for text in texts]
        self._headed = headed
        self._headed_vectors: Any = None

    @property
    def headed_vectors(self) -> Any:
        """Vectors of the texts behind the name of their project and the usual heading."""
        if self._headed_vectors is None:
            self._headed_vectors = self.memory.home.embedder.embed_documents(self._headed)
        return self._headed_vectors

    def bm25(self, question: str) -> tuple[Scores, float]:
        """Our words' part, in the order of the texts."""
        scores, most = self._shelf.bm25(asked(question))
        ordered = np.zeros(len(scores))
        ordered[self._order] = scores
        return ordered, most


class Question:
    """One question to a corpus; what is computed from it is computed once."""

    def __init__(self, corpus: Corpus, text: str) -> None:
        self.corpus = corpus
        self.text = text
        self.vector = corpus.memory.home.embedder.embed_query(text)
        self.cosines: Scores = (corpus.vectors @ self.vector).astype(np.float64)
        self.plain = re.findall(r"\w+", text.lower())
        self.stems = [forms[0] for forms in asked(text)]
        self.bm25, self.most = corpus.bm25(text)

    def ours(self, weights: RankingWeights = DEFAULT_WEIGHTS) -> Any:
        """What `acemem.retrieval.relevance` makes of it."""
        return relevance(self.cosines, self.bm25, self.most, self.corpus.calibration, weights)


def search(question: Question, k: int, floor: bool) -> list[int]:
    """The product itself: the numbers of the texts that a search returns, best first."""
    corpus = question.corpus
    return [corpus.at[hit.id] for hit in corpus.memory.search(question.text, k=k, scope=corpus.scope, floor=floor)]


def _ranks(scores: Scores) -> Scores:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _reciprocal(question: Question, k: float) -> Scores:
    tuned = question.corpus.tuned.scores(question.stems)
    return 1 / (k + _ranks(question.cosines)) + (tuned > 0) / (k + _ranks(tuned))


def _spread(scores: Scores) -> Scores:
    return (scores - scores.min()) / (scores.max() - scores.min() + 1e-12)


def _with_words(question: Question, scores: Scores, most: float) -> Scores:
    return relevance(question.cosines, scores, most, question.corpus.calibration, DEFAULT_WEIGHTS).relevance


def _share(question: Question, index: Bm25, query: Sequence[str]) -> Scores:
    words = list(dict.fromkeys(query))
    most = sum(float(index.scores([word]).max(initial=0)) or math.log1p(2 * question.bm25.size + 1) for word in words)
    return _with_words(question, index.scores(words), most)


def _headed(question: Question) -> Scores:
    cosines = (question.corpus.headed_vectors @ question.vector).astype(np.float64)
    return relevance(cosines, question.bm25, question.most, question.corpus.calibration, DEFAULT_WEIGHTS).relevance


def _fed_back(question: Question, share: float = 0.3, top: int = 5) -> Scores:
    best = np.argsort(-question.ours().relevance)[:top]
    vector = question.vector + share * question.corpus.vectors[best].mean(axis=0)
    cosines = (question.corpus.vectors @ (vector / np.linalg.norm(vector))).astype(np.float64)
    return relevance(cosines, question.bm25, question.most, question.corpus.calibration, DEFAULT_WEIGHTS).relevance


BASELINES: dict[str, Ranking] = {
    "cosine": lambda q: q.cosines,
    "BM25, raw": lambda q: q.corpus.raw.scores(q.plain),
    "BM25, stems, function words out, k1 1.2, b 0.4": lambda q: q.corpus.tuned.scores(q.stems),
    "reciprocal ranks, k 60": lambda q: _reciprocal(q, 60),
    "reciprocal ranks, k 10": lambda q: _reciprocal(q, 10),
    "weighted 0.5 of both, min-max": lambda q: 0.5 * _spread(q.cosines) + 0.5 * _spread(q.corpus.tuned.scores(q.stems)),
}
ABLATIONS: dict[str, Ranking] = {
    "all of relevance": lambda q: q.ours().relevance,
    "without words": lambda q: q.ours(RankingWeights(semantic=1.0)).relevance,
    "without meaning": lambda q: q.ours(RankingWeights(semantic=0.0)).relevance,
    "words with length and repetition (k1 1.2, b 0.4)": lambda q: _share(q, q.corpus.tuned, q.stems),
    "words relative to the best there is": lambda q: _with_words(q, q.bm25, float(q.bm25.max()) + 2),
    "words without stems and parts": lambda q: _share(
        q, q.corpus.unstemmed, [word for word in q.plain if word not in ENGLISH]
    ),
    "words with function words, without stems": lambda q: _share(q, q.corpus.every_word, q.plain),
    "the project and the usual heading embedded": _headed,
    "the question moved towards its best five (not in the product)": _fed_back,
}
