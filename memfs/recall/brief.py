"""What a session begins with: approved and current memories, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence

from memfs.model.applies import applies
from memfs.model.values import replace
from memfs.recall.candidates import PLACE_SCORE, work_of
from memfs.recall.hits import LOOK_PAST, cut, read_hits
from memfs.recall.query import Hit, Query, Result
from memfs.recall.stores import Candidate, Store
from memfs.recall.usage import NEVER

_MOST_READ = 60  # files


def recall_brief(stores: Sequence[Store], query: Query) -> Result:
    """Return approved and current memories: those for the work path first, then the used, then the newest.

    Only ids that have a receipt can be approved, so nothing else is read.
    """
    candidates: list[tuple[tuple[bool, int, str], Candidate]] = []
    visible = 0
    for store in stores:
        path, topics = work_of(store, query)
        flags = store.index.allowed_rows(store.seer(query.caller))
        visible += sum(flags)
        approved = store.assessor.ids_with_receipts()
        if not approved:
            continue
        for row, (memory_path, facet) in enumerate(zip(store.index.paths, store.index.read_facets(), strict=True)):
            memory_id = memory_path.rpartition("/")[2].removesuffix(".md")  # what is in `approved` is an id
            if flags[row] and memory_id in approved:
                recorded, _, places = facet.partition("\t")
                here = bool(places) and applies(places.split("\x1f"), path, topics)
                rank = (here, store.usage.get(memory_id, NEVER).helped, recorded)
                candidates.append((rank, Candidate(store, memory_path, PLACE_SCORE, {})))
    candidates.sort(key=lambda pair: (pair[0], pair[1].path), reverse=True)
    order = {(one.store.name, one.path): place for place, (_, one) in enumerate(candidates)}
    hits: list[Hit] = []
    read = 0
    # A few more than are shown at first: an approval that lapsed is seen only when the file is read.
    while len(hits) < query.limit and read < min(len(candidates), _MOST_READ):
        batch = [one for _, one in candidates[read : read + query.limit + LOOK_PAST]]
        hits += [hit for hit in read_hits(batch, query, len(batch)).hits if hit.assessment.approved]
        read += len(batch)
    hits.sort(key=lambda hit: order[hit.store, hit.assessment.file.path])
    result = cut(hits, query.limit, query.budget_bytes, "brief")
    left_out = len(hits) - len(result.hits) + len(candidates) - read
    return replace(result, left_out=left_out, others=visible - len(result.hits) - left_out)
