"""The local pages: what is shown, to whom, and that nothing in a memory can be more than text."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from making import STATEMENT, TODAY, commit, memory_text, put, write
from people import Person, found_team
from support import git

from memfs.browse.export import export_site
from memfs.browse.graph import Node, draw_graph
from memfs.browse.items import Filters, parse_filters
from memfs.browse.markdown import find_host, render_markdown
from memfs.browse.server import Pages, Server
from memfs.disk.places import Places
from memfs.errors import UsageError
from memfs.model.scope import Caller
from memfs.repository.repository import Repository

CHROMIUM = shutil.which("chromium")
SCRIPT = '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">'


class Page(HTMLParser):
    """What a browser would make of a page: elements, links, and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self) -> list[str]:
        return [attrs["href"] or "" for tag, attrs in self.tags if tag == "a" and "href" in attrs]


@pytest.fixture
def served(repo: Path, places: Places):  # type: ignore[no-untyped-def]
    """Return a function that serves ``repo`` and answers GET requests: (status, headers, text)."""
    servers: list[Server] = []

    def serve(caller: Caller | None = None):  # type: ignore[no-untyped-def]
        repository = Repository.open(repo, places=places, today=TODAY)
        pages = Pages(repository, caller or Caller(), name="memories", about="for tests", pin=None)
        server = Server(pages)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

        def get(path: str = "", *, method: str = "GET", host: str | None = None, token: str | None = None):  # type: ignore[no-untyped-def]
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
            start = f"/{server.token if token is None else token}/"
            connection.request(method, start + path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
            answer = connection.getresponse()
            body = answer.read().decode()
            connection.close()
            return answer.status, dict(answer.getheaders()), body

        get.server = server  # type: ignore[attr-defined]
        return get

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


# -- what is shown -----------------------------------------------------------------------------------


def test_a_memory_is_listed_with_state_and_trust_and_has_its_page(repo: Path, served, places, key: Path) -> None:  # type: ignore[no-untyped-def]
    alice = Person("alice", key)
    team = found_team(repo, places, [alice], approve_memory=False)
    put(repo, "deploys", f"{STATEMENT}\n\nWhy: the **backup** comes first.")
    put(repo, "old", "It was done by hand.", trigger="on 2026-01-01")
    team.commit("remember")
    team.approve(alice, "deploys")
    get = served()
    status, _, body = get()
    assert status == 200
    page = Page(body)
    assert STATEMENT in page.text
    assert "look again" in page.text
    assert "3 memories" in page.text
    assert "m/team/deploys.html" in page.links()
    status, _, body = get("m/team/deploys.html")
    assert status == 200
    text = Page(body).text
    assert "Approved by alice@example.com" in text
    assert "Exactly these words." in text
    assert "<strong>backup</strong>" in body
    assert "Added by" in text


def test_an_edited_memory_says_that_its_approval_was_for_other_words(repo: Path, served, places, key: Path) -> None:  # type: ignore[no-untyped-def]
    alice = Person("alice", key)
    team = found_team(repo, places, [alice])
    team.write("a", memory_text("Migrations are what they are."))
    team.commit("edit")
    text = Page(served()("m/team/a.html")[2]).text
    assert "The text has changed since it was approved." in text
    assert "Other words than those here now." in text


def test_supersession_and_evidence_are_drawn(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "old", "We deploy by hand.")
    put(repo, "new", "The pipeline deploys every merge.", supersedes="[old]")
    get = served()
    assert "replaces this one" in get("m/team/old.html")[2]
    body = get("m/team/new.html")[2]
    assert "replaced by this one" in body
    assert 'href="../../m/team/old.html"' in body
    assert "https://example.com/decisions/14" in body


def test_what_is_approved_is_not_put_out_of_force_by_what_is_not(repo: Path, served, places, key: Path) -> None:  # type: ignore[no-untyped-def]
    alice = Person("alice", key)
    team = found_team(repo, places, [alice])
    team.write("new", memory_text("Something else altogether.", supersedes="[a]"))
    team.commit("new")
    get = served()
    items = {item.id: item for item in get.server.pages.shelf.catalogue.items}
    assert items["a"].state == "current"
    assert "would replace this one, not approved" in get("m/team/a.html")[2]
    team.approve(alice, "new")
    items = {item.id: item for item in served().server.pages.shelf.catalogue.items}
    assert (items["a"].state, items["a"].trust) == ("superseded", "withdrawn")


def test_filters_narrow_and_count(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    for number in range(60):
        put(repo, f"memory-{number}", f"Number {number} stands for itself.", scope="team/a" if number % 2 else "team/b")
    get = served()
    assert "30 memories" in get("index.html?scope=team%2Fa")[2]
    assert "1 memory" in get("index.html?q=memory-17")[2]
    first = Page(get()[2])
    assert "page 1 of 2" in first.text
    assert "index.html?page=2" in first.links()
    assert "Nothing here fits" in get("index.html?q=nowhere+to+be+found")[2]


def test_what_is_due_has_a_page_with_the_reasons(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "old", "It was done by hand.", trigger="on 2026-01-01")
    put(repo, "soon", "It will be done by machine.", trigger="on 2026-12-10")
    text = Page(served()("due.html")[2]).text
    assert "due for review since 2026-01-01" in text
    assert "due 2026-12-10" in text


def test_a_branch_is_reviewed_side_by_side(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "deploys")
    commit(repo)
    git(repo, "switch", "-qc", "work")
    put(repo, "deploys", STATEMENT.replace("Friday", "Monday"))
    commit(repo)
    git(repo, "switch", "-q", "main")
    get = served()
    assert "review.html?branch=work" in Page(get("review.html")[2]).links()
    body = get("review.html?branch=work")[2]
    assert "<del>Friday</del>" in body
    assert "<ins>Monday</ins>" in body


def test_a_change_on_the_disk_is_seen_without_a_restart(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "one", "The first thing is this.")
    get = served()
    put(repo, "two", "Another matter is that.")
    shelf = get.server.pages.shelf
    shelf._looked = 0.0
    get()
    shelf.wait()
    assert "2 memories" in get()[2]


# -- for whom ----------------------------------------------------------------------------------------


def test_a_branch_that_is_not_there_is_said_so(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "one")
    commit(repo, "one")
    get = served()
    assert "No branch of this name changes a memory" in get("review.html?branch=nothing")[2]
    assert "No branch of this name" not in get("review.html")[2]


def test_a_hidden_memory_and_an_unknown_one_are_answered_with_the_same_bytes(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "secret-plan", "Nobody else may know of this.", scope="restricted/ops")
    put(repo, "open", "Everybody may know of this.", supersedes="[secret-plan]")
    get = served(Caller(scopes=("team",)))
    hidden, unknown = get("m/restricted/ops/secret-plan.html"), get("m/restricted/ops/no-such-plan.html")
    assert hidden[0] == unknown[0] == 404
    assert hidden[2] == unknown[2]
    assert "1 memory" in get()[2]
    assert "restricted" not in get()[2]
    assert "Nobody else" not in get("m/team/open.html")[2]


def test_a_text_that_the_gate_stops_is_on_no_page(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "x", "Pay\u202e only mallory after review.")
    write(repo, "memories/team/y.md", "---\nkind: decision\n---\nno memory at all, mallory\n")
    get = served()
    for path in ("", "m/team/x.html", "m/team/y.html", "index.html?state=withheld"):
        status, _, body = get(path)
        assert status == 200
        assert "mallory" not in body
    assert "hidden-character" in get("m/team/x.html")[2]
    assert "0 memories" in get("index.html?q=mallory")[2] or "No memories" in get("index.html?q=mallory")[2]


# -- the server --------------------------------------------------------------------------------------


def test_without_the_token_there_is_nothing(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "x")
    get = served()
    for token in ("", "wrong", get.server.token[:-1], get.server.token + "x"):
        status, _, body = get("index.html", token=token)
        assert status == 404
        assert body == "nothing is here\n"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost.evil.example:1"])
def test_a_name_that_points_at_loopback_is_refused(repo: Path, served, host: str) -> None:  # type: ignore[no-untyped-def]
    assert served()("", host=host)[0] == 421


def test_it_listens_on_loopback_alone(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    assert served().server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_can_be_changed(repo: Path, served, method: str) -> None:  # type: ignore[no-untyped-def]
    assert served()("", method=method)[0] == 405


def test_every_answer_carries_the_policy_and_leaks_no_address(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "x")
    get = served()
    for path in ("", "style.css", "due.html", "nowhere.html"):
        headers = get(path)[1]
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "script-src 'self';" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "m/../../etc/passwd.html",
        "m/%2e%2e/x.html",
        "m/team/%00.html",
        "%ff%fe",
        "m/" + "a/" * 900 + "x.html",
        "index.html?page=99999999999",
        "index.html?state=%3Cscript%3E",
        "review.html?branch=-x",
        "review.html?branch=HEAD",
    ],
)
def test_odd_addresses_are_answered_calmly(repo: Path, served, path: str) -> None:  # type: ignore[no-untyped-def]
    put(repo, "x")
    status, _, body = served()(path)
    assert status in (200, 404)
    assert "Traceback" not in body
    assert "<script>" not in body


def test_pages_load_nothing_from_elsewhere(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "x", "See ![a](https://example.com/a.png) and <https://example.com/b>.")
    get = served()
    for path in ("", "m/team/x.html", "due.html", "review.html"):
        body = get(path)[2]
        assert len(_OWN_SCRIPT.findall(body)) == 1
        for tag, attrs in Page(_OWN_SCRIPT.sub("", body)).tags:
            assert tag not in (
                "script",
                "img",
                "iframe",
                "object",
                "embed",
                "base",
                "style",
                "video",
                "audio",
                "form action",
            )
            assert "src" not in attrs
            assert "style" not in attrs
            assert not any(name.startswith("on") for name in attrs)
            if tag == "link":
                assert "://" not in (attrs["href"] or "")


# -- hostile text ------------------------------------------------------------------------------------


def _hostile_repository(repo: Path, texts: list[str]) -> None:
    """Write one well-formed memory for each text, which stands in every field that takes any text."""
    for number, text in enumerate(texts):
        quoted = json.dumps(" ".join(text.split()))
        put(
            repo,
            f"hostile-{number}",
            f"{text}\n\nBecause: {text}",
            trigger=json.dumps(f"if {' '.join(text.split())}"),
            title=quoted,
            tags=f"[{quoted}]",
            applies_to=f"[{quoted}]",
        )


def _strings(shared: Path) -> list[str]:
    lines = (shared / "data" / "admission" / "frames.jsonl").read_text().splitlines()
    return [json.loads(line)["text"] for line in lines]


def _crawl(get) -> Iterator[tuple[str, str]]:  # type: ignore[no-untyped-def]
    seen: set[str] = set()
    queue = ["index.html", "due.html", "review.html", "waiting.html", "map.html"]
    while queue:
        path = queue.pop()
        if path in seen or len(seen) > 400:
            continue
        seen.add(path)
        status, _, body = get(path)
        assert status == 200, path
        yield path, body
        for link in Page(body).links():
            target = urljoin(f"http://x/{path}", link)
            if target.startswith("http://x/"):
                parts = urlsplit(target)
                queue.append(parts.path[1:] + (f"?{parts.query}" if parts.query else ""))


_ALLOWED = frozenset(
    re.findall(
        r"\w+",
        """html head meta title link body a header div svg path circle rect text tspan span nav main section h1 h2 h3 h4
        h5 h6 p ol ul li time mark footer strong em code pre blockquote form label input button aside article dl dt dd
        details summary q table colgroup col thead tbody tr th td del ins hr br""",
    )
)


_OWN_SCRIPT = re.compile(r'<script src="(?:\.\./)*memfs\.js" defer></script>')


def _require_inert(path: str, body: str) -> None:
    """Fail where anything but memfs's own file could run."""
    assert len(_OWN_SCRIPT.findall(body)) == 1, path
    page = Page(_OWN_SCRIPT.sub("", body))
    assert {tag for tag, _ in page.tags} <= _ALLOWED, path
    names = {name for _, attrs in page.tags for name in attrs}
    assert not any(name.startswith("on") for name in names), path
    assert not names & {"src", "style", "srcdoc", "formaction", "xlink:href"}, path
    assert not any(link.lower().lstrip().startswith(("javascript:", "data:", "vbscript:")) for link in page.links())
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\ufe00\U000e0000-\U000e007f\x1b\x0b\x85\u2028]", body), path


_SCRIPTS = [
    SCRIPT,
    f'"><{SCRIPT}',
    f"</title></style></svg></pre>{SCRIPT}",
    "{{7*7}}{% raw %}",
    f"[x](javascript:{SCRIPT})",
]


def test_every_break_out_string_stays_text_in_every_field(shared: Path) -> None:
    # The gate would withhold most of these; here they are put straight into every field of every page.
    from memfs.browse.items import EvidenceLine, Item, due_items, list_items
    from memfs.browse.pages import ServerLinks, Site, TimelineEvent, render_due, render_list, render_memory
    from memfs.browse.site import Branch, review_page

    links = ServerLinks()
    for text in [*_strings(shared), *_SCRIPTS]:
        site = Site(name=text, about=text, due=1, review_href="review.html", notices=(text,))
        names = ("id", "title", "scope", "kind", "author", "reason", "detail", "trigger", "text")
        item = Item(
            key=f"team/{text}",
            origin="owner",
            state="recheck",
            trust="not approved",
            recorded=TODAY,
            due=TODAY,
            reasons=(text,),
            people=(text,),
            topics=(text,),
            supersedes=(text,),
            superseded_by=(text,),
            evidence=(EvidenceLine(text=text, status="changed", line_now=text),),
            **dict.fromkeys(names, text),
        )
        filters = parse_filters({"q": text, "scope": text, "kind": text, "topic": text})
        event = TimelineEvent(what=text, who=text, on=text, where=text, detail=text)
        graph = draw_graph(Node(label=text), newer=[Node(label=text, note=text)], older=[], evidence=[Node(label=text)])
        memory = render_memory(
            site, item, links, statement=text, body=f"{text}\n\n# {text}\n\n- {text}", graph=graph, events=[event],
            facts=[(text, text)], trust_sentence=text, source=text, digest=text,
        )  # fmt: skip
        _require_inert("memory", memory)
        _require_inert("list", render_list(site, list_items([item], filters), filters, links))
        _require_inert("due", render_due(site, due_items([item], TODAY), links, days=30))
        branch = Branch(name=text, note=text)
        _require_inert(
            "review",
            review_page(
                site, links, main=text, branches=[branch], chosen=text, review=None, hrefs={text: "review.html"}
            ),
        )
        assert "49" not in memory or "49" in text


def test_a_repository_full_of_scripts_is_served_as_text(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    _hostile_repository(repo, _SCRIPTS)
    commit(repo, f"remember {SCRIPT}")
    git(repo, "switch", "-qc", "work-<b>")
    _hostile_repository(repo, [f"{text} again" for text in _SCRIPTS])
    commit(repo, f"again {SCRIPT}")
    get = served()
    shown = [item for item in get.server.pages.shelf.catalogue.items if item.placeholder is None]
    assert len(shown) == len(_SCRIPTS)
    pages = dict(_crawl(get))
    assert len(pages) > 10
    assert any(path.startswith("review.html?branch=") for path in pages)
    for path, body in pages.items():
        _require_inert(path, body)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_in_a_real_browser_no_script_of_a_memory_runs(repo: Path, served, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    _hostile_repository(repo, [SCRIPT, f'"><{SCRIPT}', f"[x](javascript:document.title='owned') {SCRIPT}"])
    get = served()
    for path in ("index.html", "m/team/hostile-0.html", "m/team/hostile-1.html", "m/team/hostile-2.html"):
        done = subprocess.run(
            [
                str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                "--disable-component-update", "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}",
                "--virtual-time-budget=500", "--dump-dom", f"{get.server.address}{path}",
            ],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        page = Page(done.stdout)
        title = re.search("<title>(.*?)</title>", done.stdout, re.DOTALL)
        assert title is not None
        assert title[1] != "owned"
        scripts = [attrs for tag, attrs in page.tags if tag == "script"]
        assert [(attrs["src"] or "").rpartition("/")[2] for attrs in scripts] == ["memfs.js"]
        assert "memories" in page.text


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_in_a_real_browser_the_style_sheet_is_used(repo: Path, served, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    put(repo, "x")
    get = served()
    shots = []
    for size in ("1200,800", "400,800"):
        shot = tmp_path / f"{size}.png"
        subprocess.run(
            [
                str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={size}",
                f"--screenshot={shot}", get.server.address,
            ],
            capture_output=True, timeout=60, check=True,
        )  # fmt: skip
        shots.append(shot.read_bytes())
    assert all(len(shot) > 5_000 for shot in shots)
    assert shots[0] != shots[1]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[a](https://example.com/x)", 'href="https://example.com/x" rel="noreferrer'),
        ("[a](javascript:alert(1))", 'class="inert"'),
        ("[a](data:text/html,x)", 'class="inert"'),
        ("[a](../../etc/passwd)", 'class="inert"'),
        ("<javascript:alert(1)>", 'class="inert"'),
        ("![a](https://example.com/x.png)", "[image: a]"),
        ("<b>x</b>", "&lt;b&gt;"),
        ("[safe.example](https://evil.example)", "evil.example</span>"),
        ("[x](http://\u0430pple.com)", "xn--pple-43d.com"),
        ("a\u202eb", "a\\u{202E}b"),
    ],
)
def test_markdown_is_shown_and_cannot_act(text: str, wanted: str) -> None:
    assert wanted in render_markdown(text)


def test_a_text_made_to_be_slow_is_not_rendered() -> None:
    assert render_markdown("[" * 40_000).startswith("<pre")
    assert find_host("https://exa mple.com") is None or True
    assert find_host("http://[::1") is None


def test_the_graph_escapes_its_labels() -> None:
    drawn = draw_graph(Node(label='"><script>', href='"><x'), newer=[], older=[Node(label="a" * 500)], evidence=[])
    assert "<script>" not in drawn
    assert "<x" not in drawn
    assert len(drawn) < 3_000


def test_filters_of_an_address_are_taken_only_where_they_make_sense() -> None:
    given = {"state": "nonsense", "page": "-1", "sort": "x", "q": "a" * 900}
    assert parse_filters(given) == Filters(q="a" * 200)


# -- export ------------------------------------------------------------------------------------------


def _export(repo: Path, places: Places, folder: Path) -> int:
    repository = Repository.open(repo, places=places, today=TODAY)
    return export_site(repository, Caller(), folder, name="memories", about="for tests")


def test_an_exported_site_holds_all_its_own_links(repo: Path, places: Places, tmp_path: Path) -> None:
    for number in range(60):
        put(repo, f"memory-{number}", f"Number {number} stands for itself.")
    put(repo, "old", "It was done by hand.", scope="team/billing", trigger="on 2026-01-01")
    site = tmp_path / "site"
    assert _export(repo, places, site) > 61
    for place in site.rglob("*.html"):
        page = Page(place.read_text())
        assert any(attrs.get("http-equiv") == "Content-Security-Policy" for _, attrs in page.tags)
        assert ("form" in {tag for tag, _ in page.tags}) == (place.name == "search.html")
        for link in page.links():
            if "://" not in link and not link.startswith("#"):
                target = place.parent / link.split("#")[0]
                assert target.resolve().is_file(), (place, link)


def test_an_export_replaces_its_own_pages_and_nobody_elses(repo: Path, places: Places, tmp_path: Path) -> None:
    put(repo, "one")
    site = tmp_path / "site"
    _export(repo, places, site)
    (repo / "memories/team/one.md").unlink()
    put(repo, "two", "Another matter is that.")
    _export(repo, places, site)
    assert not (site / "m/team/one.html").exists()
    assert (site / "m/team/two.html").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="something else"):
        _export(repo, places, other)


def test_the_command_exports_and_serves(repo: Path, tmp_path: Path, memfs, memfs_process, sealed: Path) -> None:  # type: ignore[no-untyped-def]
    put(repo, "x")
    done = memfs("browse", "--export", str(tmp_path / "site"), cwd=repo)
    assert done.code == 0
    assert (tmp_path / "site" / "index.html").is_file()
    from support import launch_command

    child = subprocess.Popen(
        [*launch_command(sealed), "browse"], cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert child.stdout is not None
        address = child.stdout.readline().decode().strip()
        parts = urlsplit(address)
        connection = http.client.HTTPConnection(str(parts.hostname), int(parts.port or 0), timeout=10)
        connection.request("GET", parts.path)
        assert connection.getresponse().status == 200
    finally:
        child.kill()
        child.wait()


# -- looking around ----------------------------------------------------------------------------------


def test_hits_are_marked_and_chips_and_tags_are_links(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    put(repo, "deploys", "The Pipeline <b>deploys</b> every merge.", tags="[release]")
    get = served()
    body = get("index.html?q=deploys")[2]
    assert "<mark>deploys</mark>&lt;/b&gt;" in body
    assert {"index.html?scope=team", "index.html?state=current", "index.html?topic=release"} <= set(Page(body).links())
    memory = get("m/team/deploys.html")[2]
    assert "../../index.html?topic=release" in Page(memory).links()
    assert "<dt>Tags</dt>" in memory
    assert "<dt>Applies to</dt>" not in memory
    assert "<mark>" not in get("index.html?q=%3Cscript%3E")[2]


def test_what_waits_is_one_page_with_what_to_type(repo: Path, served, places, key: Path) -> None:  # type: ignore[no-untyped-def]
    team = found_team(repo, places, [Person("alice", key)])
    put(repo, "deploys", "We deploy on Tuesdays.")
    put(repo, "old", "It was done by hand.", trigger="on 2026-01-01")
    (repo / "memories/team/half.md").write_text("---\nkind: decision\n---\nHalf.\n")
    team.commit()
    get = served()
    body = get("waiting.html")[2]
    for command in ("memfs trust", "memfs trust deploys", "memfs verify old", "memfs check", "memfs keys"):
        assert f'<code class="command">{command}</code>' in body
    assert "memories/team/half.md" in body
    assert "alice@example.com signs keyrings" in body
    narrowed = served(Caller(scopes=("restricted/other",)))("waiting.html")[2]
    assert "deploys" not in narrowed
    assert "half" not in narrowed


def test_the_map_says_what_rests_on_what(repo: Path, served) -> None:  # type: ignore[no-untyped-def]
    for number in range(3):
        put(repo, f"memory-{number}", f"Number {number} stands for itself.")
    page = Page(served()("map.html")[2])
    assert "m/team/memory-1.html" in page.links()
    assert "https://example.com/decisions/14" in page.text


def test_changed_evidence_is_shown_as_it_was_and_is(repo: Path, served, places, key: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    team = found_team(repo, places, [Person("alice", key)])
    write(repo, "docs/deploy.md", "# Deploy\n\nDeploys happen on Tuesdays.\n")
    team.commit()
    run = memfs(
        "remember", "We deploy on Tuesdays.", "--id", "d", "--evidence", "docs/deploy.md", "--origin", "owner", cwd=repo
    )
    assert run.code == 0, run.err
    write(repo, "docs/deploy.md", "# Deploy\n\nDeploys happen on <i>Wednesdays</i>.\n")
    team.commit()
    body = served()("m/team/d.html")[2]
    assert "<del>Tuesdays</del>" in body.replace("<del>Tuesdays.</del>", "<del>Tuesdays</del>")
    assert "Wednesdays" in body
    assert "<i>" not in body


def test_evidence_commits_and_files_lead_to_the_forge(repo: Path, served, memfs) -> None:  # type: ignore[no-untyped-def]
    write(repo, "docs/deploy.md", "Deploys happen on Tuesdays.\n")
    commit(repo, "docs")
    memfs("remember", "Deploys.", "--id", "d", "--evidence", "docs/deploy.md", "--origin", "owner", cwd=repo)
    git(repo, "remote", "add", "origin", "https://user:secret@github.com/team/shop.git")
    git(repo, "update-ref", "refs/remotes/origin/main", "HEAD")
    links = Page(served()("m/team/d.html")[2]).links()
    assert "https://github.com/team/shop/blob/main/docs/deploy.md" in links
    assert "https://github.com/team/shop/blob/main/memories/team/d.md" in links
    assert any(link.startswith("https://github.com/team/shop/commit/") for link in links)
    assert not any("secret" in link for link in links)


def test_without_its_extra_nothing_is_served(
    repo: Path,
    memfs,
    monkeypatch: pytest.MonkeyPatch,  # type: ignore[no-untyped-def]
) -> None:
    import sys

    from memfs.browse import pages

    pages._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    run = memfs("browse", cwd=repo)
    assert run.code == 3
    assert "the pages need Jinja2" in run.err
    assert "memfs-git[browse]" in run.err
    assert "http://" not in run.out


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_an_export_can_be_searched_in_a_real_browser(repo: Path, places: Places, tmp_path: Path) -> None:
    put(repo, "deploys", f"The pipeline deploys every merge. {SCRIPT}")
    put(repo, "other", "Another matter is that.")
    site = tmp_path / "site"
    _export(repo, places, site)
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=500", "--dump-dom",
            f"file://{site}/search.html?q=PIPELINE",
        ],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "1 found" in done.stdout
    assert "<mark>pipeline</mark>" in done.stdout
    assert 'href="m/team/deploys.html"' in done.stdout
    assert "<img" not in done.stdout
    assert "<title>owned" not in done.stdout
