# Every method of the core set, through the published client, unmodified.
import asyncio, base64, inspect, os, time
import httpx
from tandem_client import TandemClient

url, folder = os.environ["TANDEM_URL"], os.environ["FOLDER"]

# What is asserted below of each method. A method of these namespaces that is missing here, or that is never called, fails.
promises = {
    "client.aclose": "by leaving the async with",
    "client.health": "ready",
    "client.list_tool_ids": "names of tools",
    "client.list_tools": "tools with name, description and schema",
    "client.execute_tool": "the tool's output",
    "client.stream": "the run from its first event, whenever it is opened; session.response deltas; one terminal event",
    "client.global_stream": "events of every session",
    "client.run_events": "the stored events of a run; those behind since_seq; the last ones with tail",
    "sessions.create": "an id; model, directory and title are kept",
    "sessions.list": "the session among those found by a word, with its time",
    "sessions.get": "the session; an error once it is deleted",
    "sessions.update": "the new title",
    "sessions.archive": "archived",
    "sessions.delete": "it is gone",
    "sessions.messages": "none, then prompt and answer with their text",
    "sessions.todos": "what the agent put on its list",
    "sessions.active_run": "the open run, then None",
    "sessions.prompt_async": "a run id",
    "sessions.prompt_async_parts": "a run of text and an attached file, which the model gets",
    "sessions.prompt_sync": "the answer's text",
    "sessions.abort": "ok; the run is cancelled",
    "sessions.cancel": "ok; the run is cancelled",
    "sessions.cancel_run": "ok; the run is cancelled",
    "sessions.fork": "a session with the same title and conversation",
    "sessions.diff": "the files that tools changed, and how",
    "sessions.revert": "ok; the last prompt and its answer are taken back",
    "sessions.unrevert": "ok; they are there again",
    "sessions.children": "the fork",
    "sessions.summarize": "ok, and a summary by the model",
    "sessions.attach": "ok; the session's folder is the new one",
    "permissions.list": "what waits, with tool and session, also after answers; standing rules with their owner",
    "permissions.reply": "refused without a deciding token; once, always and reject with one",
    "questions.list": "the question's text and choices",
    "questions.reply": "ok; the answer reaches the model",
    "questions.reject": "ok; the model hears that nobody answers",
    "providers.catalog": "providers, models, which are connected",
    "providers.config": "the default, also after it was changed",
    "providers.set_defaults": "config shows it",
    "providers.set_api_key": "auth_status shows it; the key is in no file in the clear (the Go test looks)",
    "providers.auth_status": "connected or not",
    "mcp.list": "connectors with state, none when all were deleted",
    "mcp.list_tools": "an array",
    "mcp.list_resources": "an array",
    "mcp.add": "ok",
    "mcp.connect": "an error when nobody is there; where to sign in when that is wanted",
    "mcp.disconnect": "ok; disabled",
    "mcp.refresh": "ok and how many tools",
    "mcp.patch": "ok; the allowlist is in force",
    "mcp.set_enabled": "ok; list shows it",
    "mcp.delete": "ok; it is gone",
    "mcp.auth": "ok, or where to sign in",
    "mcp.delete_auth": "ok; signed out",
    "mcp.auth_callback": "ok; signed in",
    "mcp.authenticate": "where to sign in",
    "mcp.catalog_toml": "text that describes the connector",
    "resources.list": "items below a prefix, with values",
    "resources.write": "ok; refused when the revision is another",
    "resources.get": "key, value, rev; an error once it is deleted",
    "resources.put_key": "ok",
    "resources.patch_key": "ok; the value is the new one",
    "resources.delete": "a TypeError of its own: it hands httpx an argument that httpx does not have, and sends nothing (the other client shows the route)",
    "resources.delete_key": "ok",
    "resources.events": "changes as they happen, and from a place on",
}
called = set()


def record(name, kind):
    """Notes which methods of a namespace are called."""
    for method, f in inspect.getmembers(kind, inspect.isfunction):
        if method.startswith("_"):
            continue
        assert f"{name}.{method}" in promises, f"{name}.{method} is not in the table"

        def noted(*args, _f=f, _n=f"{name}.{method}", **kw):
            called.add(_n)
            return _f(*args, **kw)

        setattr(kind, method, noted)


def record_all():
    plain = TandemClient(base_url=url, token="t")
    for name in ("sessions", "permissions", "questions", "providers", "mcp", "resources"):
        record(name, type(getattr(plain, name)))
    record("client", TandemClient)


async def text_of(client, session, run):
    out, seen = "", []
    async for e in client.stream(session, run):
        seen.append(e.type)
        if e.type == "session.response":
            assert e.session_id == session and e.run_id == run, e
            out += e.properties["delta"]
    return out, seen


async def until(get):
    end = time.time() + 60
    while time.time() < end:
        got = await get()
        if got:
            return got
        await asyncio.sleep(0.02)
    raise AssertionError("it never came")


async def refused(call):
    try:
        await call
    except httpx.HTTPStatusError:
        return
    raise AssertionError("it was not refused")


async def main():
    async with TandemClient(base_url=url, token=os.environ["TANDEM_API_TOKEN"]) as c, TandemClient(base_url=url, token=os.environ["DECIDING_TOKEN"]) as person:
        assert (await c.health()).ready
        assert "read" in await c.list_tool_ids()
        bash = next(t for t in await c.list_tools() if t.name == "bash")
        assert bash.description and bash.input_schema["properties"]["command"], bash
        assert "README.md" in (await c.execute_tool("list", {})).output

        sid = await c.sessions.create(title="core py", directory=folder, provider="fake", model="scripted-1")
        assert (await c.sessions.get(sid)).title == "core py"
        found = next(s for s in (await c.sessions.list(q="core py")).sessions if s.id == sid)
        assert found.title == "core py" and abs(time.time() * 1000 - found.created_at_ms) < 600_000, found
        assert (await c.sessions.update(sid, title="renamed py")).title == "renamed py"
        assert await c.sessions.messages(sid) == []
        assert await c.sessions.prompt_sync(sid, "[[say hello back]]") == "hello back"
        assert [m.parts[0].text for m in await c.sessions.messages(sid)] == ["[[say hello back]]", "hello back"]

        run = await c.sessions.prompt_async(sid, '[[tool todo {"todos":[{"content":"one","status":"pending"}]} ;; tool read {"path":"README.md"}]] [[say all done]]')
        await asyncio.sleep(0.3)
        text, seen = await text_of(c, sid, run.run_id)
        assert text == "all done" and seen.count("session.run.finished") == 1 and "run.completed" in seen, (text, seen)
        stored = await c.run_events(run.run_id)
        assert any(e.type == "run.completed" for e in stored)
        assert [e.type for e in await c.run_events(run.run_id, tail=2)] == [e.type for e in stored[-2:]]
        half = stored[len(stored) // 2].model_dump()["seq"]
        later = await c.run_events(run.run_id, since_seq=half)
        assert 0 < len(later) < len(stored) and all(e.model_dump()["seq"] > half for e in later), later
        assert (await c.sessions.todos(sid))[0].content == "one"

        run = await c.sessions.prompt_async(sid, '[[tool write {"path":"py.txt","content":"once"}]] [[say written]]')

        async def pending():
            return [r for r in (await c.permissions.list()).requests if r.status == "pending" and r.session_id == sid]

        ask = (await until(pending))[0]
        assert ask.tool == "write"
        await refused(c.permissions.reply(ask.id, "once"))
        assert (await c.sessions.active_run(sid)).active
        assert (await person.permissions.reply(ask.id, "once"))["ok"]
        text, _ = await text_of(c, sid, run.run_id)
        assert text == "written", text
        run = await c.sessions.prompt_async(sid, '[[tool write {"path":"no.txt","content":"never"}]] [[result]]')
        assert (await person.permissions.reply((await until(pending))[0].id, "reject"))["ok"]
        await text_of(c, sid, run.run_id)
        assert not os.path.exists(os.path.join(folder, "no.txt"))
        diff = await c.sessions.diff(sid)
        assert len(diff.files) == 1 and "+once" in diff.diff, diff

        run = await c.sessions.prompt_async(sid, '[[tool question {"questions":[{"question":"Which?","options":[{"label":"Blue"}]}]}]] [[result]]')
        q = (await until(lambda: opened(c)))[0]
        assert q.text == "Which?" and q.choices == ["Blue"], q
        assert (await c.questions.reply(q.id, "the blue one"))["ok"]
        text, _ = await text_of(c, sid, run.run_id)
        assert "the blue one" in text, text
        run = await c.sessions.prompt_async(sid, '[[tool question {"questions":[{"question":"Sure?"}]}]] [[result]]')
        assert (await c.questions.reject((await until(lambda: opened(c)))[0].id))["ok"]
        text, _ = await text_of(c, sid, run.run_id)
        assert "does not want to answer" in text, text

        data = "data:text/plain;base64," + base64.b64encode(b"buy milk").decode()
        run = await c.sessions.prompt_async_parts(sid, [{"type": "text", "text": "look"}, {"type": "file", "mime": "text/plain", "filename": "note.txt", "url": data}])
        await text_of(c, sid, run.run_id)
        assert any("buy milk" in (p.text or "") for m in await c.sessions.messages(sid) for p in m.parts)

        for stop in (lambda r: c.sessions.cancel_run(sid, r), lambda r: c.sessions.cancel(sid), lambda r: c.sessions.abort(sid)):
            run = await c.sessions.prompt_async(sid, "[[slow 30]]")
            assert (await stop(run.run_id))["ok"]
            _, seen = await text_of(c, sid, run.run_id)
            assert "run.cancelled" in seen, seen
        assert (await c.sessions.active_run(sid)).active is None
        copy = await c.sessions.fork(sid)
        assert copy.title == "renamed py" and any(s.id == copy.id for s in await c.sessions.children(sid))
        await c.sessions.prompt_sync(copy.id, "[[say to be taken back]]")
        whole = len(await c.sessions.messages(copy.id))
        assert (await c.sessions.revert(copy.id))["ok"]
        assert len(await c.sessions.messages(copy.id)) == whole - 2
        assert (await c.sessions.unrevert(copy.id))["ok"]
        assert len(await c.sessions.messages(copy.id)) == whole
        summary = await c.sessions.summarize(sid)
        assert summary["ok"] and summary["summary"]
        assert (await c.sessions.attach(copy.id, folder))["ok"]
        assert (await c.sessions.get(copy.id)).directory == folder
        assert (await c.sessions.archive(copy.id)).archived
        await c.sessions.delete(copy.id)
        await refused(c.sessions.get(copy.id))

        catalog = await c.providers.catalog()
        assert "local" in catalog.connected
        assert (await c.providers.config()).default == "local"
        assert (await c.providers.auth_status())["local"]["connected"]

        await person.providers.set_api_key("openai", "sk-sdk-0123456789")
        assert (await c.providers.auth_status())["openai"]["connected"]
        await person.providers.set_defaults("fake", "scripted-1")
        assert (await c.providers.config()).default == "fake"
        await person.providers.set_defaults("local", "echo-1")

        changes = []

        async def changed():
            async for e in c.resources.events():
                changes.append(e)
                if e.type == "resource.deleted":
                    return

        watching = asyncio.create_task(changed())
        await until(lambda: some(changes))  # connected
        assert (await c.resources.put_key("project/py", {"a": 1})).ok
        got = await c.resources.get("project/py")
        assert got.key == "project/py" and got.value == {"a": 1}, got
        assert (await c.resources.write("project/py", {"a": 2}, if_match_rev=got.rev)).ok
        await refused(c.resources.write("project/py", {"a": 3}, if_match_rev=got.rev))
        assert (await c.resources.patch_key("project/py", {"value": {"a": 4}})).ok
        assert [i.value for i in (await c.resources.list(prefix="project/py")).items] == [{"a": 4}]
        try:
            await c.resources.delete("project/py")
            raise AssertionError("the published client was mended: assert what its delete returns")
        except TypeError:
            pass
        assert (await c.resources.delete_key("project/py"))["ok"]
        await refused(c.resources.get("project/py"))
        await asyncio.wait_for(watching, 60)
        mine = [e for e in changes if e.properties.get("key") == "project/py"]
        assert [e.type for e in mine] == ["resource.updated"] * 3 + ["resource.deleted"], mine
        assert (await c.resources.put_key("project/py", 1)).ok and (await c.resources.delete_key("project/py"))["ok"]
        replay = []
        async for e in c.resources.events(since_seq=mine[-1].properties["seq"]):
            if e.properties.get("key") == "project/py":
                replay.append(e.type)
            if len(replay) == 2:
                break
        assert replay == ["resource.updated", "resource.deleted"], replay

        assert (await person.mcp.add("docs", "http://127.0.0.1:1/mcp"))["ok"]
        assert (await c.mcp.list())["docs"]["connected"] is False
        assert await c.mcp.list_tools() == [] and await c.mcp.list_resources() == []
        await refused(person.mcp.connect("docs"))
        assert (await person.mcp.set_enabled("docs", False))["ok"]
        assert (await c.mcp.list())["docs"]["enabled"] is False
        assert (await person.mcp.delete("docs"))["ok"]
        assert await c.mcp.list() == {}

        await person.mcp.add("mailpy", os.environ["MAIL_URL"])
        wanted = await person.mcp.connect("mailpy")
        assert wanted["pendingAuth"] is True
        assert (await person.mcp.auth_callback("mailpy", await back(wanted["authorizationUrl"])))["ok"]
        assert (await c.mcp.list())["mailpy"]["state"] == "quarantined"
        assert 'name = "mailpy"' in await c.mcp.catalog_toml("mailpy")
        assert (await person.mcp.refresh("mailpy"))["count"] == 1
        assert (await person.mcp.patch("mailpy", allowed_tools=["say"]))["ok"]
        assert (await person.mcp.delete_auth("mailpy"))["ok"]
        assert (await c.mcp.list())["mailpy"]["state"] == "auth_required"
        again = await person.mcp.authenticate("mailpy")
        assert (await person.mcp.auth_callback("mailpy", await back(again["authorizationUrl"])))["ok"]
        begun = await person.mcp.auth("mailpy")
        assert begun["ok"]
        assert (await person.mcp.disconnect("mailpy"))["ok"]
        assert (await c.mcp.list())["mailpy"]["enabled"] is False
        assert (await person.mcp.delete("mailpy"))["ok"]

        run = await c.sessions.prompt_async(sid, '[[tool bash {"command":"echo again"}]] [[tool bash {"command":"echo again and again"}]] [[say passed]]')
        ask = (await until(pending))[0]
        await refused(c.permissions.reply(ask.id, "always"))
        await person.permissions.reply(ask.id, "always")
        text, _ = await text_of(c, sid, run.run_id)
        assert text == "passed", text
        assert any(r["pattern"] == "bash(command: echo again)" and r["owner"] == "owner" for r in (await c.permissions.list()).rules)

        types = []

        async def listen():
            async for e in c.global_stream():
                types.append(e.type)
                if e.type == "session.run.finished":
                    return

        listening = asyncio.create_task(listen())
        await until(lambda: some(types))
        await c.sessions.prompt_sync(sid, "[[say to everybody]]")
        await asyncio.wait_for(listening, 60)
        assert "run.completed" in types, types
    missing = set(promises) - called
    assert not missing, missing
    print(f"core set ok: {len(promises)} methods")


async def some(list):
    return list


async def back(url):
    async with httpx.AsyncClient() as browser:
        res = await browser.get(url)
    return dict(httpx.URL(res.headers["location"]).params)


async def opened(c):
    return (await c.questions.list()).questions


record_all()
asyncio.run(main())
