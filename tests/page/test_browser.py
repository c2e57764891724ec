"""The page in a real browser: it moves, runs, cancels, goes back, and asks nobody else."""

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest
from tests.report.browser import OPTIONS, needs_browser

from dynascope.explorers import Choice, Slider, explorers

from .served import Holding, command, put_run, serving

MOVED = "Number(document.documentElement.dataset.moved || 0)"
PATIENCE = 240_000  # milliseconds: the first picture of an explorer is compiled


@contextlib.contextmanager
def tab(port, width=1280, **options):
    """A tab, with what went wrong in it and what it asked for."""
    path = needs_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=OPTIONS)
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, **options)
        context.set_default_timeout(PATIENCE)  # a server that starts answers when it is warm
        page = context.new_page()
        page.wrong, page.asked, base = [], [], f"http://127.0.0.1:{port}"
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("console", lambda m: page.wrong.append(m.text) if m.type == "error" else None)
        page.on("request", lambda r: page.asked.append(r.url))
        page.base = base
        try:
            yield page
            abroad = [u for u in page.asked if not u.startswith((base, "data:", "blob:"))]
            assert not abroad
        finally:
            browser.close()


def wait_moved(page, count):
    page.wait_for_function(f"{MOVED} >= {count}", timeout=PATIENCE)


def put(page, name, *places):
    """Put a slider somewhere, as a hand does that goes on; through several places within one task
    of the browser, however slow the machine is."""
    page.evaluate(
        """([name, places]) => {
        const slider = document.querySelector(`input[type=range][data-name="${name}"]`);
        for (const place of places) {
          slider.value = place;
          slider.dispatchEvent(new Event("input", {bubbles: true})); } }""",
        [name, places],
    )


def settle(page, name):
    """Let a slider go."""
    page.locator(f'input[type=range][data-name="{name}"]').dispatch_event("change")


def move(page, name, place):
    """Put a slider somewhere and let it go; waits for the new picture."""
    before = page.evaluate(MOVED)
    put(page, name, place)
    settle(page, name)
    wait_moved(page, before + 1)


def state(page):
    """What every control shows."""
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(
        "#moves [data-name], #moves [data-number]")].map((f) =>
        [f.dataset.name || `${f.dataset.number}, as a number`, f.value]))""")


def shown(page):
    """The picture and its words."""
    return page.evaluate("JSON.stringify(document.getElementById('chart').data)"
                         " + document.getElementById('numbers').textContent")  # fmt: skip


def test_one_pass(monkeypatch, tmp_path):
    """Explorer with slider, link, back, records searched and compared, step slider; no error."""
    needs_browser()
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    record, _ = put_run("alpha", number=1), put_run("beta", number=2)
    worker = Holding("explorer")
    with serving(pool=worker) as port, tab(port) as page:
        page.goto(f"{page.base}/explore/balance?learning_rate=1.1")
        wait_moved(page, 1)
        assert page.locator('[data-number="learning_rate"]').input_value() == "1.1"
        assert page.locator("#chart .main-svg").count() > 0
        drags_over_a_slow_picture(page, worker)
        goes_back_forward_and_again(page)
        page.goto(f"{page.base}/records/{record}")
        page.wait_for_selector("#variable-0 .main-svg")
        page.wait_for_selector("#variable-2 .main-svg")
        page.locator("#step").fill("5")
        page.wait_for_function(
            "document.querySelectorAll('figcaption')[2].textContent.includes('step 5')"
        )
        page.goto(f"{page.base}/records")
        for box in page.locator("input[name=id]").all():
            box.check()
        page.get_by_role("button", name="Compare two").click()
        page.wait_for_selector("#both-0 .main-svg")
        page.goto(f"{page.base}/records")
        page.locator("input[name=search]").fill("alpha")
        page.get_by_role("button", name="Show").click()
        page.wait_for_function("location.search.includes('search=alpha')")
        assert page.locator("input[name=id]").count() == 1
        assert page.wrong == []


def drags_over_a_slow_picture(page, worker):
    """What is overtaken is left, what is between is never asked for, the last state is drawn."""
    lost = []
    page.on("requestfailed", lambda r: lost.append(r) if r.method == "POST" else None)
    worker.seen.clear()
    worker.hold.set()
    put(page, "x", 100)
    assert worker.held.wait(20)
    put(page, "x", 200, 300, 400)
    settle(page, "x")
    wait_moved(page, 2)
    asked = [values["x"] for values in worker.seen]
    assert [request.post_data_json["values"]["x"] for request in lost] == asked[:1]
    assert len(asked) == 2 and asked[0] < asked[1]  # the slow one and the last one, none between
    last = page.locator('[data-number="x"]').input_value()
    assert float(last) == pytest.approx(asked[1]) and f"x={last}" in page.url
    assert f"learning_rate=1.1, x={last}" in page.locator("#python").text_content()
    assert page.evaluate("!document.getElementById('chart').classList.contains('old')")
    drawn = shown(page)
    page.reload()  # the same state, with nothing to overtake
    wait_moved(page, 1)
    assert shown(page) == drawn


def goes_back_forward_and_again(page):
    """Every slider is in the address, and every picture comes again."""
    seen = [(page.url, state(page), shown(page))]
    for name, place in (("learning_rate", 300), ("x", 700), ("y", 250)):
        move(page, name, place)
        seen.append((page.url, state(page), shown(page)))
    assert len({url for url, _, _ in seen}) == len({picture for _, _, picture in seen}) == 4

    def arrives(number, pictures):
        wait_moved(page, pictures)
        assert (page.url, state(page), shown(page)) == seen[number]

    for count, number in enumerate((2, 1, 0), 5):
        page.go_back()
        arrives(number, count)
    page.go_forward()
    arrives(1, 8)
    page.reload()
    arrives(1, 1)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    needs_browser()
    home = tmp_path_factory.mktemp("home")
    with command(home, "--port", "0") as (port, process, _):
        yield port, process, home


@pytest.mark.slow
def test_the_gallery_is_there_at_once_as_it_was_seen_last(tmp_path):
    needs_browser()
    for words in ("being loaded", "As it was seen last"):
        with command(tmp_path, "--port", "0") as (port, _, _), tab(port) as page:
            answer = page.goto(page.base)
            assert answer.status == 200 and words in answer.text()
            page.wait_for_selector("#waiting", state="detached")
            page.wait_for_selector('.card[href="/studies/swing-by"]')
            assert page.wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("explorer", explorers, ids=lambda e: e.name)
def test_everything_of_an_explorer_moves_redraws_and_is_kept(server, explorer):
    """Each slider and choice gives another picture; a reload and a step back give it again."""
    with tab(server[0]) as page:
        page.goto(f"{page.base}/explore/{explorer.name}")
        wait_moved(page, 1)
        first = page.url, state(page)
        pictures, seen = 1, []
        for name, (_, control) in explorer.named().items():
            before = shown(page)
            if isinstance(control, Slider):
                move(page, name, 400 if name == "near" else 620)  # near the other minimum
            elif isinstance(control, Choice):
                other = next(o for o in control.options if o != explorer.values()[name])
                page.locator(f"select[data-name={name}]").select_option(json.dumps(other))
            else:
                continue
            pictures += 1
            wait_moved(page, pictures)
            assert shown(page) != before, name
            assert f"{name}=" in page.url
            seen.append((page.url, state(page)))
        last = shown(page)
        page.reload()
        wait_moved(page, 1)
        assert (page.url, state(page)) == seen[-1] and shown(page) == last
        for known in [*reversed(seen[:-1]), first]:
            page.go_back()
            page.wait_for_url(known[0])
            assert state(page) == known[1]
        assert page.wrong == []


@pytest.mark.slow
def test_a_slow_picture_is_left_by_the_process_that_computes_it(server):
    """A descent of half a million steps is overtaken on the way by one of some hundreds."""
    with tab(server[0]) as page:
        page.goto(f"{page.base}/explore/swing-by?steps=500000&learning_rate=0.05&seed=1")
        wait_moved(page, 1)
        move(page, "seed", 20)  # compiled now
        whole = page.evaluate("Number(document.documentElement.dataset.took)")
        lost = []
        page.on("requestfailed", lambda r: lost.append(r.url) if r.method == "POST" else None)
        put(page, "seed", 40)
        time.sleep(0.2 * whole / 1000)
        begun = time.monotonic()
        put(page, "steps", 100)
        settle(page, "steps")
        wait_moved(page, 3)
        took = 1000 * (time.monotonic() - begun)
        assert len(lost) == 1 and took < 0.5 * whole, (took, whole)
        assert page.evaluate("document.getElementById('chart').data[0].x.length") > 0
        assert page.wrong == []


def drawn_ends(page):
    """The ends of x and of y in the first panel."""
    return page.evaluate("""["xaxis", "yaxis"].map((a) =>
        document.getElementById("chart")._fullLayout[a].range)""")


def tab_to(page, selector):
    """Go on with the Tab key until something has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(s) => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"Tab does not reach {selector}")


@pytest.mark.slow
def test_a_box_is_zoomed_with_the_keyboard_alone(server):
    with tab(server[0]) as page:
        page.goto(f"{page.base}/explore/orbits")
        wait_moved(page, 1)
        whole = drawn_ends(page)
        tab_to(page, "[data-end=rates][data-place='0']")
        assert float(page.evaluate("document.activeElement.value")) == pytest.approx(whole[0][0])
        page.keyboard.press("Control+a")
        page.keyboard.type("1.2")
        page.keyboard.press("Enter")
        wait_moved(page, 2)
        assert drawn_ends(page)[0] == pytest.approx([1.2, whole[0][1]])
        tab_to(page, "[data-zoom='0.5']")
        page.keyboard.press("Enter")
        wait_moved(page, 3)
        (left, right), (low, high) = ends = drawn_ends(page)
        assert right - left == pytest.approx((whole[0][1] - 1.2) / 2)
        kept = page.url, shown(page)
        tab_to(page, "[data-pan='1 0']")
        page.keyboard.press("Space")
        wait_moved(page, 4)
        step = (right - left) / 4
        assert drawn_ends(page)[0] == pytest.approx([left + step, right + step])
        assert drawn_ends(page)[1] == pytest.approx([low, high])
        page.go_back()
        wait_moved(page, 5)
        assert (page.url, shown(page)) == kept
        page.reload()
        wait_moved(page, 1)
        assert (page.url, shown(page)) == kept and drawn_ends(page) == [
            pytest.approx(e) for e in ends
        ]
        tab_to(page, "[data-zoom='2']")
        for count in range(2, 6):  # rates stay above 0, however far away
            page.keyboard.press("Enter")
            wait_moved(page, count)
            assert drawn_ends(page)[0][0] > 0
        tab_to(page, "[data-whole]")
        page.keyboard.press("Enter")
        wait_moved(page, 6)
        assert "rates" not in page.url and drawn_ends(page) == [pytest.approx(e) for e in whole]
        tab_to(page, ".modebar-btn[data-attr=zoom][data-val=in]")  # those of any chart
        page.keyboard.press("Enter")
        wait_moved(page, 7)
        assert drawn_ends(page)[0][0] > whole[0][0]
        assert page.wrong == []


@pytest.mark.slow
def test_a_box_is_dragged_and_a_point_is_clicked(server):
    with tab(server[0]) as page:
        page.goto(f"{page.base}/explore/orbits")
        wait_moved(page, 1)
        (left, right), _ = drawn_ends(page)
        box = page.locator("#chart .nsewdrag").first.bounding_box()
        page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 0.2 * box["height"])
        page.mouse.down()
        page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 0.8 * box["height"], steps=5)
        page.mouse.up()
        wait_moved(page, 2)
        width = right - left
        middle = [left + 0.25 * width, left + 0.75 * width]
        assert drawn_ends(page)[0] == pytest.approx(middle, abs=0.01 * width)
        assert "rates=" in page.url and "visited=" in page.url
        page.mouse.dblclick(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        wait_moved(page, 3)
        assert "rates=" not in page.url
        page.goto(f"{page.base}/explore/factorisation")
        wait_moved(page, 1)
        box = page.locator("#chart").bounding_box()
        page.mouse.click(box["x"] + 0.2 * box["width"], box["y"] + 150)
        wait_moved(page, 2)
        assert "first=" in page.url and "second=" in page.url
        assert page.wrong == []


@pytest.mark.slow
def test_a_study_runs_to_its_verdicts_and_another_is_cancelled(server):
    with tab(server[0]) as page:
        page.goto(f"{page.base}/studies/graph-pairs")
        page.locator("#run summary").click()
        field = page.locator(".settings input").first
        was = field.input_value()
        field.evaluate("(field) => { field.type = 'text'; field.value = 'nonsense'; }")
        page.locator("#run button[type=submit]").click()
        page.wait_for_selector("#run-says.wrong")
        assert "expected" in page.locator("#run-says").text_content()
        page.locator(".settings input").first.fill(was)
        page.wrong.clear()  # the browser reports the refused request
        page.locator("#run button[type=submit]").click()
        page.wait_for_url("**/studies/graph-pairs?record=*", timeout=PATIENCE)
        page.wait_for_selector("tr[data-verdict=holds]")
        page.locator("#filter select[name=verdict]").select_option("holds")
        shown = page.locator("tr[data-verdict]:visible").count()
        assert shown == page.locator("tr[data-verdict=holds]").count()
        assert "verdict=holds" in page.url
        page.goto(f"{page.base}/studies/swing-by")
        page.locator("#run button[type=submit]").click()
        page.wait_for_function("document.getElementById('run-says').textContent.includes('/')",
                               timeout=PATIENCE)  # fmt: skip
        page.reload()  # it is still there
        page.locator("#cancel").click(timeout=PATIENCE)
        page.wait_for_function("document.getElementById('run-says').textContent.includes('Cancelled')",
                               timeout=PATIENCE)  # fmt: skip
        assert page.wrong == []


@pytest.mark.slow
def test_a_killed_process_is_said_and_the_page_goes_on(server):
    port, process, _ = server
    with tab(port) as page:
        page.goto(f"{page.base}/explore/balance")
        wait_moved(page, 1)
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)],
                                  capture_output=True, text=True, check=True)  # fmt: skip
        for child in children.stdout.split():
            os.kill(int(child), signal.SIGKILL)
        time.sleep(1)
        page.evaluate("""() => { const s = document.querySelector('input[type=range]');
            s.value = 300; s.dispatchEvent(new Event('input', {bubbles: true})); }""")
        page.wait_for_selector("#numbers.wrong", timeout=PATIENCE)
        assert "has ended" in page.locator("#numbers").text_content()
        move(page, "learning_rate", 400)
        assert "wrong" not in (page.locator("#numbers").get_attribute("class") or "")


@pytest.mark.slow
def test_a_stopped_server_is_said_and_found_again(tmp_path):
    needs_browser()
    with contextlib.ExitStack() as stack:
        with command(tmp_path, "--port", "8790") as (port, process, _):
            page = stack.enter_context(tab(port))
            page.goto(f"{page.base}/explore/balance?x=2")
            wait_moved(page, 1)
            process.send_signal(signal.SIGINT)
            told = process.stderr.read()
            assert "Traceback" not in told and "leaked" not in told
        page.wait_for_selector("#banner:visible", timeout=60_000)
        assert "dynascope page" in page.locator("#banner").text_content()
        with command(tmp_path, "--port", str(port)):
            page.wait_for_selector("#banner", state="hidden", timeout=PATIENCE)
            move(page, "learning_rate", 700)  # with the new token
            assert "x=2" in page.url


@pytest.mark.slow
def test_a_port_that_is_taken_and_a_store_that_changes(tmp_path):
    """Two servers on one store: what one forgets, the other says it no longer has."""
    needs_browser()
    with (
        command(tmp_path, "--port", "8810") as (first, _, _),
        command(tmp_path, "--port", str(first)) as (second, process, _),
    ):
        assert second != first
        record = put_run(home=tmp_path)
        with tab(first) as page:
            page.goto(f"{page.base}/records")
            page.wait_for_selector(f'[data-forget="{record}"]')
            other = page.context.new_page()
            other.on("dialog", lambda dialog: dialog.accept())
            other.goto(f"http://127.0.0.1:{second}/records")
            other.locator(f'[data-forget="{record}"]').click()
            other.wait_for_function("!document.querySelector('[data-forget]')")
            with page.expect_response(lambda r: r.status == 404):
                page.goto(f"{page.base}/records/{record}")
            assert "unknown record" in page.locator("main").text_content()
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
        assert f"port {first} is taken" in told and "leaked" not in told
