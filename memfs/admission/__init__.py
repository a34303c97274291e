"""The gate: what may become a memory, and what of a memory may be shown (ADMISSION 1).

``gate`` is what other rooms ask: ``judge_draft`` before anything is written, ``judge_file`` on a change,
``judge_reading`` on a file that would be shown; ``judge_text`` and ``judge_fields`` for any other text. The rules are
tables in ``data/``.
"""
