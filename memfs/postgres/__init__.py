"""An organisation's memories on PostgreSQL: written by ``publish``, read by ``recall``, believed by nobody.

Only this room uses psycopg. The server proposes rows; bytes, receipts and keyrings are verified on the reader's
machine.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.postgres.address import Address, parse_address
    from memfs.postgres.asking import Answer, read_evidence, read_held, search
    from memfs.postgres.checking import Remark, check_store
    from memfs.postgres.connection import NoIndexError, Open, borrow, connect, give_back, is_installed, load
    from memfs.postgres.meaning import open_meaning
    from memfs.postgres.publication import Publication, is_ancestor, read_publication
    from memfs.postgres.publishing import Published, as_payload, migrate, publish
    from memfs.postgres.rows import Verified, parse_pins, verify

__getattr__, __all__ = open_door(
    __name__,
    {
        "address": ("Address", "parse_address"),
        "asking": ("Answer", "read_evidence", "read_held", "search"),
        "checking": ("Remark", "check_store"),
        "connection": ("NoIndexError", "borrow", "connect", "give_back", "is_installed", "load"),
        "meaning": ("open_meaning",),
        "publication": ("Publication", "is_ancestor", "read_publication"),
        "publishing": ("Published", "as_payload", "migrate", "publish"),
        "rows": ("Verified", "parse_pins", "verify"),
    },
)
