"""Thousands of receipts that do not verify, planted for one id: looked at once, not at every question."""

from __future__ import annotations

import os
import time

from people import Person, Team, make_record
from trust.test_hot_path import in_a_fresh_process

from memfs.model.values import replace
from memfs.trust.record import Item, Record, format_statement

COUNT = int(os.environ.get("MEMFS_TEST_PLANTED", "300"))


def plant(team: Team, bob: Person, count: int) -> None:
    """Write receipts of ``bob``'s that borrow the signature of another statement."""
    true = make_record(bob, team, "a", "0" * 64)
    for seq in range(2, count + 2):
        statement = replace(true.statement, items=(Item(id="a", seq=seq, digest="1" * 64),))
        team.put_receipt(Record(statement=statement, text=format_statement(statement), signature=true.signature))


def test_receipts_that_do_not_verify_cost_no_cryptography_the_second_time(team: Team, bob: Person) -> None:
    plant(team, bob, COUNT)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        said = in_a_fresh_process(team, "a")
        times.append(round(time.perf_counter() - start, 2))
        assert said[0] == "a trusted"
    print(COUNT, "planted receipts, seconds:", times)
    assert said == ["a trusted", "modules"]
