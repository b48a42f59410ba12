"""Words: identifiers in every spelling, stems of several languages, scripts without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.words import LONGEST, asked, words


def share(question: str, bullet: str) -> set[int]:
    """Which words of the question, by number, the bullet has."""
    held = set(words(bullet))
    return {at for at, forms in enumerate(asked(question)) if held & set(forms)}


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("use_effect", "useeffect", {"use", "effect"}),
        ("useEffect", "useeffect", {"use", "effect"}),
        ("use-effect", "useeffect", {"use", "effect"}),
        ("HTTPServer", "httpserver", {"http", "server"}),
        ("os.environ", "osenviron", {"os", "environ"}),
        ("--dry-run", "dryrun", {"dri", "run"}),
        ("C:\\work\\main.kt", "mainkt", {"work", "main", "kt"}),
        ("src/shop/cart.rs", "cartr", {"src", "shop", "cart"}),
        ("std::vec", "stdvec", {"std", "vec"}),
        ("3.11", "3.11", {"3", "11"}),
        ("C++", "c++", {"c"}),
        ("C#", "c#", {"c"}),
    ],
)
def test_identifiers_are_found_whole_and_by_their_parts(text: str, whole: str, parts: set[str]) -> None:
    """Whatever joins the parts."""
    assert set(words(text)) >= {whole, *parts}


def test_the_exact_identifier_has_more_in_common_than_its_parts() -> None:
    """Both parts in other places are not the name."""
    question = "what does user_id hold"
    assert share(question, "Set userId first.") > share(question, "The user has an id.") > share(question, "A user.")


@pytest.mark.parametrize(
    ("question", "bullet"),
    [
        ("running the tests", "Run one test."),
        ("deployment", "Deploy on Mondays."),
        ("Wie laufen die Tests?", "Führe nie alle Tests auf einmal aus, das dauert zu lange."),
        ("les migrations de la base", "Il faut lancer la migration avant le déploiement, pas après."),
        ("как запускать тесты", "Тесты нужно запускать только в контейнере, а не на машине."),
        ("cafe", "Café"),
        ("naïve", "naive"),
        ("\uff21\uff22\uff23 files", "abc"),
        ("\u0130stanbul", "istanbul"),
    ],
)
def test_other_forms_of_a_word_are_found(question: str, bullet: str) -> None:
    """In the bullet's own language, whatever the question's seems to be; accents and wide letters do not matter."""
    assert share(question, bullet)


@pytest.mark.parametrize(
    ("question", "bullet", "other"),
    [
        ("配置文件", "解析器读取配置文件。", "每次推送前运行测试。"),
        ("テストの実行", "テストを実行する前に起動。", "設定ファイルを読む。"),
        ("배포 방법", "배포는 월요일에만 한다.", "설정 파일을 읽는다."),
        ("การทดสอบ", "รันการทดสอบก่อน", "ไฟล์"),
        ("परीक्षण", "परीक्षण चलाएँ", "फ़ाइल"),
    ],
)
def test_scripts_without_spaces_are_found_by_pairs_of_characters(question: str, bullet: str, other: str) -> None:
    """More is in common with what is meant than with anything else."""
    assert len(share(question, bullet)) > len(share(question, other))


def test_function_words_are_not_words() -> None:
    """But those that turn or bound a statement are."""
    assert words("What is it that we do with the?") == []
    assert asked("how do I") == []
    assert words("never only before not") == ["never", "onli", "befor", "not"]


@given(st.text())
def test_any_text_has_words_that_can_be_stored(text: str) -> None:
    """None holds a space or is long; a bullet has all the words of a question that is its very text."""
    found = words(text)
    assert not any(set(word) & set(" \n\t") or not word or len(word) > LONGEST + 1 for word in found)
    assert share(text, text) == set(range(len(asked(text))))
