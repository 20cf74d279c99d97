"""Tests of policy sets and classifiers, without any other library."""

import itertools
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import pytest
from conftest import AGENTS, SAMPLE

import portcullis_robots
from portcullis_robots import Error, PolicySet, RobotsTxt
from portcullis_robots.agents import agent_list, agent_lists


def test_verdicts_are_those_of_the_command_line(policies, urls, program, set_path, tmp_path):
    clean = [url for url in urls if url and url == url.strip()]
    listed = tmp_path / "urls.txt"
    listed.write_text("\n".join(clean) + "\n", encoding="utf-8")
    command = [program, "classify", "-p", set_path, "-a", ",".join(AGENTS), "--summary", "none", listed]
    written = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    expected = [tuple(line.split("\t")[:3]) for line in written.splitlines()]
    table = policies.for_agents(AGENTS).classify(clean)
    columns = [table[agent].to_pylist() for agent in AGENTS]
    assert list(zip(*columns, strict=True)) == expected
    command = [program, "check", "-p", set_path, "-a", "GPTBot", "--format", "jsonl", clean[0]]
    told = subprocess.run(command, capture_output=True, check=False).stdout
    assert policies.for_agents(["GPTBot"]).explain(clean[0]) == json.loads(told)


def test_opened_read_and_compiled_sets_agree(policies, urls, set_path):
    expected = policies.for_agents(AGENTS).classify(urls).to_pylist()
    assert {"allow", "disallow", "unknown", "invalid"} == {row["GPTBot"] for row in expected}
    read = PolicySet.open(set_path, mapped=False)
    compiled = PolicySet.compile(SAMPLE / "robots")
    assert policies.hash == read.hash == compiled.hash
    for other in (read, compiled):
        assert other.for_agents(AGENTS).classify(urls).to_pylist() == expected
    policies.verify()


def test_allowed_follows_verdicts(policies, urls):
    classifier = policies.for_agents(AGENTS)
    rows = classifier.classify(urls).to_pylist()
    for mode, quantifier in (("all", all), ("any", any)):
        expected = [quantifier(verdict == "allow" for verdict in row.values()) for row in rows]
        assert classifier.allowed(urls, mode=mode).to_pylist() == expected


def test_paths_get_their_other_parts():
    text = "User-agent: *\nDisallow: /*?sort=\n"
    classifier = PolicySet.compile({"https://shop.example/robots.txt": text}).for_agents(["Bot"])
    paths = ["/list", "/list?sort=name", "/list?page=2", "https://shop.example/list", None, "//b.example/"]
    queries = ["sort=price", "?sort=name", "sort=price", "sort=price", "a", None]
    expected = ["disallow", "disallow", "invalid", "disallow", "invalid", "invalid"]
    found = classifier.classify(paths, host="shop.example", query=queries)
    assert found["Bot"].to_pylist() == expected
    assert classifier.classify(paths[:2], host="shop.example")["Bot"].to_pylist() == ["allow", "disallow"]
    schemes = ["http", "HTTPS:", "ftp", "-"]
    found = classifier.classify(["/?sort="] * 4, host=["shop.example"] * 4, scheme=schemes)
    assert found["Bot"].to_pylist() == ["unknown", "disallow", "invalid", "disallow"]
    assert classifier.allowed(["/"], host="shop.example").to_pylist() == [True]
    assert classifier.account(["/"], host="shop.example").to_dict()["kept"] is not None
    with pytest.raises(ValueError, match="query has another number of rows than urls, which has 1"):
        classifier.classify(["/"], query=[])


def test_bad_urls_are_values(policies):
    classifier = policies.for_agents(["GPTBot"])
    bad = ["", " ", "x", "http://", "mailto:a@b.example", "\ud800", "\0", b"\xff\xfe", None, "a" * 9999]
    assert classifier.classify(bad)["GPTBot"].to_pylist() == ["invalid"] * len(bad)
    assert classifier.allowed(bad).to_pylist() == [False] * len(bad)
    assert classifier.explain("mailto:a@b.example")["problem"]


def test_every_column_has_python_values():
    text = "User-agent: *\nCrawl-delay: 2.5\nDisallow: /a\n"
    policies = PolicySet.compile({"https://a.example/robots.txt": text})
    asked = {"columns": "verdict,reason,line,rule,group,delay,state", "usage": ["search"]}
    rows = policies.for_agents("X").classify(["https://a.example/a", "no"], **asked).to_pylist()
    values = [[row[f"X_{name}"] for name in ("line", "rule", "group", "delay")] for row in rows]
    assert values == [[3, "/a", "*", 2.5], [None] * 4]


def test_a_size_limit_of_0_is_an_error():
    texts = {"https://a.example/robots.txt": "User-agent: *\nDisallow: /\n"}
    with pytest.raises(ValueError, match="max_robots_bytes is 0"):
        PolicySet.compile(texts, max_robots_bytes=0)
    with pytest.raises(ValueError, match="max_bytes is 0"):
        RobotsTxt("User-agent: *\nDisallow: /\n", max_bytes=0)


def test_agents(policies):
    classifier = policies.for_agents(
        [" GPTBot ", "Googlebot-News+Googlebot"],
        user_agents=["Mozilla/5.0 (compatible; CCBot/2.0)"],
        assume_scheme="HTTPS",
    )
    assert classifier.agents[:2] == ["GPTBot", "Googlebot-News+Googlebot"]
    assert len(classifier.classify(["shop.example/cart/"]).column_names) == 3
    assert "unknown" not in classifier.classify(["shop.example/cart/"]).to_pylist()[0].values()
    for agents, message in [
        ([], "no agents"),
        (["a b"], "product tokens"),
        ("GPTBot,", "empty name"),
        ([""], "empty name"),
    ]:
        with pytest.raises(ValueError, match=message):
            policies.for_agents(agents)
    with pytest.raises(ValueError, match="no scheme"):
        policies.for_agents(["GPTBot"], assume_scheme="https://")
    for agents in (5, b"GPTBot", ["GPTBot", None]):
        with pytest.raises(TypeError, match="a list of str, or one str with commas"):
            policies.for_agents(agents)


def test_lists_of_agents(policies):
    assert {"ai-training", "search"} <= agent_lists().keys()
    names = agent_list("ai-training")
    assert {"GPTBot", "CCBot"} <= set(names)
    assert policies.for_agents(names).agents == names
    assert policies.for_agents("@ai-training").agents == names
    assert policies.for_agents("GPTBot").agents == ["GPTBot"]
    mixed = policies.for_agents(["MyBot", "@ai-training", "gptbot"]).agents
    assert mixed == ["MyBot", *names]
    for ask in (agent_list, lambda name: policies.for_agents(f"@{name}")):
        with pytest.raises(ValueError, match="@nothing: there is no such list and no such file; the lists are @ai-training"):
            ask("nothing")


def test_crawlers_read_files_as_the_command_line_says(tmp_path):
    text = "User-agent: *\nDisallow: /\nUser-agent: Googlebot\nDisallow: /x\n"
    policies = PolicySet.compile({"https://a.example/robots.txt": text})
    urls = ["https://a.example/", "https://a.example/x"]
    agents = ["Bot!", "Bot", "@Googlebot-News", "@applebot"]
    table = policies.for_agents(agents).classify(urls)
    assert table["Bot!"].to_pylist() == ["allow", "allow"]
    assert table["Bot"].to_pylist() == ["disallow", "disallow"]
    for name in policies.for_agents(agents).agents[2:]:
        assert table[name].to_pylist() == ["allow", "disallow"], name
    listed = tmp_path / "ours.txt"
    listed.write_text("Bot! # ours\nOther\n")
    assert policies.for_agents(f"@{listed}").agents == ["Bot!", "Other"]


def test_names_are_several_or_one_text_with_commas(policies, urls):
    classifier = policies.for_agents(" GPTBot , @ai-training")
    assert classifier.agents == policies.for_agents(["GPTBot", "@ai-training"]).agents
    assert classifier.agents == policies.for_agents(iter(["GPTBot", "@ai-training"])).agents
    expected = classifier.classify(urls, columns=["verdict", "line"], usage=["search", "train-ai"])
    for columns, usage in [("verdict,line", "search,train-ai"), (("verdict", "line"), iter(["search", "train-ai"]))]:
        table = classifier.classify(urls, columns=columns, usage=usage)
        assert table.to_pylist() == expected.to_pylist()
    for columns in (5, b"verdict", ["verdict", 5]):
        with pytest.raises(TypeError, match="(?s)pass a list of str, or one str.*'columns'"):
            classifier.classify(urls, columns=columns)


def test_many_questions_are_asked_in_turn(policies, urls):
    classifier = policies.for_agents(AGENTS)
    labels = ["train-ai", "ai-use", "search"]
    questions = [usage for count in range(4) for usage in itertools.permutations(labels, count)]
    expected = [policies.for_agents(AGENTS).classify(urls, usage=it).to_pylist() for it in questions]
    for _ in range(2):
        assert [classifier.classify(urls, usage=it).to_pylist() for it in questions] == expected


def test_explanations(policies):
    classifier = policies.for_agents(AGENTS)
    told = classifier.explain("https://shop.example/catalogsearch/terms/?lang=en", "GPTBot")
    assert (told["verdict"], told["deciding"]["line"], len(told["lost"])) == ("allow", 38, 2)
    with pytest.raises(ValueError, match="agent must be one of GPTBot"):
        classifier.explain("https://shop.example/")
    with pytest.raises(ValueError, match="agent must be one of"):
        classifier.explain("https://shop.example/", "Bingbot")


def test_provenance(policies, set_path):
    provenance = policies.for_agents(AGENTS).provenance()
    assert provenance["set_hash"] == policies.hash
    assert provenance["origins"] == policies.origins > 0
    assert provenance["inputs"][0]["format"] == "folder"
    assert (policies.name, policies.dialect) == (str(set_path), "rfc9309")


def test_arguments_that_make_no_sense(policies):
    classifier = policies.for_agents(AGENTS)
    for call, error, message in [
        (lambda: classifier.classify("https://a.example/"), TypeError, "pass a list"),
        (lambda: classifier.classify([1]), TypeError, "str or bytes"),
        (lambda: classifier.classify(5), TypeError, "exports Arrow"),
        (lambda: classifier.classify([], columns="verdicts"), ValueError, "the columns are"),
        (lambda: classifier.allowed([], mode="some"), ValueError, "use one of all, any"),
        (lambda: classifier.classify([])["Bingbot"], KeyError, "Bingbot"),
        (lambda: classifier.classify([])[3], IndexError, "no column 3"),
        (lambda: PolicySet.compile("x", dialect="rfc1"), ValueError, "use one of .*rfc9309"),
        (lambda: PolicySet.compile("x", strictness="odd"), ValueError, "use one of lenient, usual, strict"),
        (lambda: PolicySet.compile("/no/such/file"), FileNotFoundError, "no such file"),
        (lambda: PolicySet.compile(SAMPLE / "robots", output="/no/such/x"), FileNotFoundError, "create its folder"),
        (lambda: PolicySet.compile(SAMPLE / "urls.txt"), Error, "urls.txt"),
        (lambda: PolicySet.compile({"a.example": ""}), ValueError, "https://HOST/robots.txt"),
        (lambda: PolicySet.open("/no/such/file"), FileNotFoundError, "no such file"),
        (lambda: PolicySet.open(SAMPLE / "urls.txt"), Error, "not a policy set"),
        (lambda: PolicySet.compile([]), ValueError, "no inputs; name at least one"),
        (lambda: PolicySet.compile([policies.name], history=True), ValueError, "history is about archives"),
        (lambda: PolicySet.open(f"{policies.name}@2024-01-01"), ValueError, "which @TIME needs"),
        (lambda: PolicySet.open(f"{policies.name}@noon"), ValueError, "a date or time"),
        (lambda: PolicySet.compile([policies.name], dialect="google"), ValueError, "for the dialect rfc9309"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_a_damaged_set_is_an_error_and_never_an_answer(set_path, urls, tmp_path):
    whole = set_path.read_bytes()
    damaged = tmp_path / "damaged.pcs"
    answers = PolicySet.open(set_path).for_agents(AGENTS).classify(urls).to_pylist()
    raised = 0
    for place in range(0, len(whole), len(whole) // 60):
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            policies = PolicySet.open(damaged, mapped=False)
            assert policies.for_agents(AGENTS).classify(urls).to_pylist() == answers
        except Error as error:
            assert str(damaged) in str(error)
            raised += 1
    assert raised > 10
    damaged.write_bytes(whole[:-100])
    with pytest.raises(Error, match="cut short"):
        PolicySet.open(damaged)


def test_merging_gives_the_set_of_all_inputs(tmp_path):
    def capture(host, path):
        body = f"User-agent: *\nDisallow: {path}\n"
        answer = {"url": f"https://{host}/robots.txt", "status": 200, "body": body}
        return json.dumps({**answer, "fetched_at": "2026-01-01T00:00:00Z"}) + "\n"

    parts = []
    for number, host in enumerate(["a.example", "b.example"]):
        source = tmp_path / f"{number}.jsonl"
        source.write_text(capture(host, "/x"))
        parts.append(PolicySet.compile(source, output=tmp_path / f"{number}.pcs").name)
    merged = PolicySet.compile(parts, output=tmp_path / "all.pcs")
    both = PolicySet.compile([tmp_path / "0.jsonl", tmp_path / "1.jsonl"])
    assert merged.hash == both.hash
    assert PolicySet.compile([parts[0], tmp_path / "1.jsonl"]).hash == both.hash
    other = PolicySet.compile(source, dialect="google", output=tmp_path / "google.pcs").name
    unlike = "with `dialect` rfc9309, .* with `dialect` google; compile the captures of one again"
    with pytest.raises(ValueError, match=unlike):
        PolicySet.compile([parts[0], other], output=tmp_path / "all.pcs")


def test_broken_records_are_warned_of(tmp_path):
    source = tmp_path / "captures.jsonl"
    body = '{"url": "https://a.example/robots.txt", "status": 200, "body": ""}\nno json\n'
    source.write_text(body)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert PolicySet.compile(source).origins == 1
    assert ["1 record left out" in str(warning.message) for warning in caught] == [True]
    with pytest.raises(Error):
        PolicySet.compile(source, strictness="strict")


def test_a_field_with_two_names_is_a_warning_or_an_error(tmp_path):
    archive = tmp_path / "a.jsonl"
    archive.write_text('{"host": "a.example", "status": 200, "http_status": 503, "body": ""}\n')
    for _ in range(2):
        with pytest.warns(UserWarning, match="two fields for status"):
            PolicySet.compile([archive])
    with pytest.raises(Error, match="two fields for status"):
        PolicySet.compile([archive], strictness="strict")


def test_sets_are_pickled_as_paths(policies, set_path, tmp_path, monkeypatch):
    again = pickle.loads(pickle.dumps(policies))
    assert (again.hash, again.name) == (policies.hash, policies.name)
    # The path is that of the opened file, wherever the process is then.
    monkeypatch.chdir(set_path.parent)
    opened = PolicySet.open(set_path.name, mapped=False)
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(pickle.dumps(opened)).name == str(set_path)


def test_sets_in_memory_are_pickled_as_bytes(policies, set_path, urls):
    assert policies.to_bytes() == set_path.read_bytes()
    expected = policies.for_agents(AGENTS).classify(urls).to_pylist()
    in_memory = PolicySet.from_bytes(bytearray(policies.to_bytes()))
    for again in (in_memory, pickle.loads(pickle.dumps(in_memory))):
        assert again.hash == policies.hash
        assert again.for_agents(AGENTS).classify(urls).to_pylist() == expected
    texts = PolicySet.compile({"https://a.example/robots.txt": "User-agent: *\nDisallow: /x\n"})
    again = pickle.loads(pickle.dumps(texts.for_agents("GPTBot")))
    assert again.allowed(["https://a.example/x", "https://a.example/y"]).to_pylist() == [False, True]
    for data in (b"", b"no set", policies.to_bytes()[:-1]):
        with pytest.raises(Error):
            PolicySet.from_bytes(data)


def test_documented_readings_survive_pickling_and_are_those_of_one_file():
    # Applebot follows the rules for Googlebot where no group names it.
    text = "User-agent: Googlebot\nDisallow: /g\n\nUser-agent: *\nDisallow: /all\n"
    header = "Mozilla/5.0 (compatible; Applebot/0.1; +http://www.apple.com/go/applebot)"
    policies = PolicySet.compile({"https://a.example/robots.txt": text})
    classifier = policies.for_agents("@Applebot", user_agents=[header])
    urls = ["https://a.example/g", "https://a.example/all"]
    robots = RobotsTxt(text)
    for asked in (classifier, pickle.loads(pickle.dumps(classifier))):
        columns = [asked.classify(urls)[name].to_pylist() for name in asked.agents]
        assert columns[0] == columns[-1] == ["disallow", "allow"]
        alone = [robots.can_fetch(header, url) for url in urls]
        assert alone == [verdict == "allow" for verdict in columns[-1]]
    assert robots.can_fetch("Applebot", urls[0]) and not robots.can_fetch("Applebot", urls[1])


def test_inputs_are_patterns_folders_and_files_of_names(tmp_path):
    folder = tmp_path / "shards"
    folder.mkdir()
    for host in ("a", "b"):
        capture = {"url": f"https://{host}.example/robots.txt", "status": 200, "body": "Disallow: /"}
        (folder / f"{host}.jsonl").write_text(json.dumps(capture) + "\n")
    names = tmp_path / "names"
    names.write_text(f"{folder / 'a.jsonl'}\n{folder / 'b.jsonl'}\n")
    whole = PolicySet.compile([folder / "a.jsonl", folder / "b.jsonl"])
    for inputs in (folder, str(folder / "*.jsonl"), [f"@{names}"]):
        assert PolicySet.compile(inputs).hash == whole.hash
    with pytest.raises(OSError, match="nope"):
        PolicySet.compile("nope")


def test_another_content_is_not_unpickled(set_path, tmp_path):
    path = tmp_path / "policies.pcs"
    path.write_bytes(set_path.read_bytes())
    pickled = pickle.dumps(PolicySet.open(path).for_agents("GPTBot"))
    other = PolicySet.compile(SAMPLE / "robots", dialect="google", output=path)
    with pytest.raises(Error, match=f"its hash is {other.hash}, and .* was pickled"):
        pickle.loads(pickled)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled)


def allowed(classifier, urls):
    return classifier.allowed(urls).to_pylist()


def decided(policies, urls):
    """The results of a task, all of which are pickled."""
    classifier = policies.for_agents(AGENTS)
    return policies, classifier.classify(urls), classifier.allowed(urls), classifier.account(urls)


def test_a_process_pool_returns_results_and_sets_in_memory(urls):
    policies = PolicySet.compile(SAMPLE / "robots")
    _, table, column, account = decided(policies, urls)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for set_, *results, counted in pool.map(decided, [policies] * 2, [urls] * 2):
            assert set_.hash == policies.hash
            assert [it.to_pylist() for it in results] == [table.to_pylist(), column.to_pylist()]
            assert counted.to_dict() == account.to_dict()
            assert counted.to_markdown() == account.to_markdown()


def test_spawned_processes_have_the_classifier(policies, urls):
    classifier = policies.for_agents(
        ["GPTBot", "@ai-training"], user_agents=["Mozilla/5.0 (X; CCBot/2)"], assume_scheme="HTTPS"
    )
    parts = [urls[place::3] for place in range(3)]
    expected = [allowed(classifier, part) for part in parts]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(allowed, [(classifier, part) for part in parts]) == expected
        again = pool.apply(pickle.loads, [pickle.dumps(classifier)])
    assert again.agents == classifier.agents
    shop = "shop.example/cart/"
    assert again.classify([shop]).to_pylist() == classifier.classify([shop]).to_pylist()


def test_threads_of_python_share_a_classifier(policies, urls):
    classifier = policies.for_agents(AGENTS)
    expected = classifier.classify(urls).to_pylist()
    results = []

    def work():
        results.append([classifier.classify(urls, threads=2).to_pylist() for _ in range(5)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[expected] * 5] * 4


def test_other_threads_run_meanwhile(policies):
    classifier = policies.for_agents(AGENTS)
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(1)

    ticker = threading.Thread(target=tick)
    # The strings are encoded before, so that the call only decides.
    table = pytest.importorskip("pyarrow").array(
        f"https://shop.example/cart/{row}?{row}" for row in range(300_000)
    )
    ticker.start()
    classifier.classify(table)
    done.set()
    ticker.join()
    assert len(ticks) > 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_may_fork_between_calls(policies, urls):
    classifier = policies.for_agents(AGENTS)
    expected = classifier.classify(urls, threads=2).to_pylist()
    child = os.fork()
    if child == 0:
        same = classifier.classify(urls, threads=2).to_pylist() == expected
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_package_needs_nothing_else():
    code = "import portcullis_robots, sys; print('pyarrow' in sys.modules)"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, check=True, capture_output=True).stdout.strip() == b"False"
    assert portcullis_robots.__version__


def crowded_set(folder):
    """A set with a file whose rule sets are not all stored, and origins without a file."""
    names = [f"a{number}" for number in range(1340)]
    lines = [f"user-agent:{name}" for name in names]
    lines += [f"disallow:/x{number}" for number in range(200)]
    lines += [f"user-agent:{name}\ndisallow:/own" for name in names]
    captures = [("crowded", 200, "\n".join(lines)), ("down", 503, ""), ("gone", 404, "")]
    archive = folder / "captures.jsonl"
    with archive.open("w") as out:
        for host, status, body in captures:
            url = f"https://{host}.example/robots.txt"
            line = {"url": url, "status": status, "body": body}
            out.write(json.dumps(line) + "\n")
    path = folder / "crowded.pcs"
    PolicySet.compile(archive, output=path)
    return path


def test_a_block_leaves_nothing_for_the_next(tmp_path):
    policies = PolicySet.open(crowded_set(tmp_path))
    expected = {"crowded": "allow", "down": "disallow", "gone": "allow", "new": "unknown"}
    for agents in (["a1322"], ["a1339"], ["a1338", "a1322", "a3"]):
        classifier = policies.for_agents(agents)
        # One session answers all of these, in blocks of many sizes.
        for first, last in ((128, 128), (300, 5), (3, 128), (40, 1)):
            for host, verdict in expected.items():
                hosts = ["crowded"] * first + [host] * last
                urls = [f"https://{host}.example/y{place}" for place, host in enumerate(hosts)]
                table = classifier.classify(urls)
                for agent in agents:
                    found = table[agent].to_pylist()
                    assert found == ["allow"] * first + [verdict] * last, (agents, host, first)


def test_a_set_that_is_overwritten_is_an_error(tmp_path):
    path, other = tmp_path / "a.pcs", tmp_path / "other.pcs"
    for rule, output in (("/yyy", path), ("/xxx", other)):
        folder = tmp_path / rule.strip("/")
        folder.mkdir()
        (folder / "a.example").write_text(f"User-agent: *\nDisallow: {rule}\n")
        PolicySet.compile(folder, output=output)
    # Longer than a tick of the clock that dates files.
    time.sleep(0.05)
    policies = PolicySet.open(path)
    classifier = policies.for_agents(["Bot"])
    urls = ["https://a.example/xxx"] * 1000
    assert classifier.allowed(urls).to_pylist() == [True] * 1000
    with path.open("r+b") as out:
        out.write(other.read_bytes())
    for ask in (
        lambda: classifier.classify(urls),
        lambda: classifier.allowed(urls[:1]),
        lambda: classifier.explain(urls[0]),
        lambda: policies.provenance(),
        lambda: policies.verify(),
    ):
        with pytest.raises(Error, match="written to while it was in use"):
            ask()


def test_schemes_are_joined_if_asked(tmp_path):
    captures = tmp_path / "captures.jsonl"
    body = "User-agent: *\\nDisallow: /a\\n"
    line = '{"url": "https://a.example/robots.txt", "status": 200, "body": "%s"}\n'
    captures.write_text(line % body)
    urls = ["http://a.example/a", "http://a.example/b"]
    answers = {}
    for joined in (False, True):
        policies = PolicySet.compile(captures, join_schemes=joined)
        answers[joined] = policies.for_agents(["Bot"]).allowed(urls).to_pylist()
    assert answers == {False: [False, False], True: [False, True]}
