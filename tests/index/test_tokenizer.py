"""What a person types is found, however it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexes import everybody, index_of

from memfs.index.tokenizer import MAX_QUERY_TERMS, query_terms, tokens

KINDS = {
    # what it is: (the text of a memory, questions that must find it)
    "absolute path": ("It lies in /srv/analysis.ipynb.", ["/srv/analysis.ipynb", "analysis.ipynb", "srv", "ipynb"]),
    "two letters": ("The db is migrated by ci.", ["db", "ci"]),
    "C++": ("The decoder is C++ code.", ["C++", "c++"]),
    "C#": ("The service is C# and F#.", ["C#", "f#"]),
    "version": ("Whoosh 2.7.4 is the fallback.", ["2.7.4", "whoosh 2.7.4"]),
    "version with a v": ("Pinned to v1.26.0-rc1.", ["v1.26.0-rc1", "1.26.0"]),
    "dashed name": ("It runs in kube-system.", ["kube-system", "kube", "system"]),
    "Chinese": ("设备断电后需要重新登记。", ["设备", "登记", "断电"]),
    "Japanese": ("夜間バッチは三時に始まる。", ["バッチ", "夜間"]),
    "Korean": ("한국어 배포는 금요일에 멈춘다.", ["배포", "금요일"]),
    "Thai": ("ระบบสำรองข้อมูลทุกคืน", ["สำรองข้อมูล"]),
    "accents": ("The café build is naïve.", ["cafe", "café", "naive"]),
    "camelCase": ("Call getUserName before login.", ["getUserName", "user name", "getusername"]),
    "PascalCase": ("HTTPServerFactory makes them.", ["HTTPServerFactory", "http server", "factory"]),
    "snake_case": ("max_retry_count is five.", ["max_retry_count", "retry count"]),
    "constant": ("Set MAX_CONNECTIONS in production.", ["MAX_CONNECTIONS", "max connections"]),
    "dunder": ("The __init__ must stay empty.", ["__init__", "init"]),
    "e-mail": ("Ask ops@example.com first.", ["ops@example.com", "ops"]),
    "host name": ("Use db1.internal.example.com.", ["db1.internal.example.com", "internal"]),
    "address with a path": ("See https://example.com/runbooks/restore.", ["example.com/runbooks/restore", "restore"]),
    "host and port": ("It listens on localhost:5432.", ["localhost:5432", "5432"]),
    "IP address": ("The gateway is 10.0.0.1 here.", ["10.0.0.1"]),
    "file with a line": ("The bug is in auth.py:42.", ["auth.py:42", "auth.py", "auth"]),
    "option": ("Pass --dry-run first.", ["--dry-run", "dry-run"]),
    "environment variable": ("$DATABASE_URL must be set.", ["$DATABASE_URL", "DATABASE_URL", "database url"]),
    "commit": ("It broke in 4f2a9c1.", ["4f2a9c1"]),
    "ticket": ("Decided in OPS-1234.", ["OPS-1234", "1234"]),
    "scoped package": ("We pin @types/node there.", ["@types/node", "types/node"]),
    "module path": ("import os.path.join there", ["os.path.join", "join"]),
    "C++ scope": ("std::vector grows there.", ["std::vector", "vector"]),
    "image with a tag": ("Runs on python:3.11-slim.", ["python:3.11-slim", "slim"]),
    "plural and singular": ("Migrations lock tables.", ["migration", "table", "locking"]),
    "Russian": ("Развёртывание запрещено по пятницам.", ["развертывание", "пятница", "развёртывания"]),
    "German": ("Die Prüfsumme der Größe.", ["Prüfsumme", "prufsumme", "große"]),
    "Greek": ("Η διαδρομή είναι σωστή.", ["διαδρομή", "διαδρομη"]),
    "Hindi": ("दिल्ली में सर्वर है।", ["दिल्ली", "सर्वर"]),
    "Arabic": ("الخادم الرئيسي يعمل.", ["الخادم"]),
    "Hebrew": ("השרת הראשי עובד.", ["השרת"]),
    "full-width letters": ("The ＦＬＡＧ is on.", ["flag", "ＦＬＡＧ"]),
    "ligature": ("The ﬁle is ﬂat.", ["file", "flat"]),
    "emoji": ("Marked with 🎉 when done.", ["🎉"]),
    "number": ("The limit is 4096 bytes.", ["4096"]),
    "letters with digits": ("We use sha256 and utf8.", ["sha256", "sha 256", "utf8"]),
    "apostrophe": ("Caroline's laptop can't sleep.", ["Caroline", "laptop"]),
    "inside quotes and brackets": ('Use ["billing"] (legacy) `export`.', ["billing", "legacy", "export"]),
    "mixed scripts": ("Kubernetes集群每晚重启。", ["kubernetes", "集群", "重启"]),
}  # fmt: skip

OTHERS = [f"Another memory number {number} about something else entirely." for number in range(20)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_word_is_found_whole_and_by_its_parts(kind: str) -> None:
    text, questions = KINDS[kind]
    index = index_of([*OTHERS, text])
    for question in questions:
        found = index.search(question, everybody)
        assert found, f"{question!r} found nothing"
        assert found[0][0] == len(OTHERS), f"{question!r} found another memory first"


def test_a_run_is_kept_whole_beside_its_parts() -> None:
    assert tokens("/srv/analysis.ipynb") == ["srv/analysis.ipynb", "srv", "analysi", "ipynb"]
    assert tokens("getUserName") == ["getusernam", "get", "user", "name"]
    assert tokens("设备登记") == ["设备", "备登", "登记"]


def test_stop_words_are_dropped_from_questions_only() -> None:
    assert query_terms("what is the plan for the cache?") == ["plan", "cach"]
    assert "the" in tokens("the plan")
    assert query_terms("the", keep_stop_words=True) == ["the"]


@pytest.mark.parametrize(
    "question",
    [
        "x " * 15_000,
        "(" * 3000 + "cache",
        "a:b [c TO d] *",
        '"' * 999,
        "\\" * 5000,
        "\0\x1b[31m",
        "a" * 30_000,
        "é" * 30_000,
    ],
)
def test_no_question_is_too_long_or_too_strange(question: str) -> None:
    assert len(query_terms(question)) <= MAX_QUERY_TERMS


@given(st.text(max_size=300))
def test_any_text_has_terms_and_they_find_it(text: str) -> None:
    terms = tokens(text)
    assert all((term and term == term.lower()) or not term.isascii() for term in terms)
    assert set(query_terms(text, keep_stop_words=True)) <= set(terms)
