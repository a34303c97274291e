"""A prompt is answered by words where a search by meaning would come too late."""

from __future__ import annotations

import time

from memfs.hooks.answer import Clock


def test_a_call_with_time_left_may_search_by_meaning() -> None:
    now = time.monotonic()
    assert not Clock(now - time.process_time() - 0.01, now + 100).is_late_for_vectors()


def test_a_call_that_waited_long_searches_by_words() -> None:
    now = time.monotonic()
    assert Clock(now - 1.6, now + 0.4).is_late_for_vectors()
