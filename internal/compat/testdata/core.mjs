// Every method of the core set, through the published client, unmodified.
import assert from "node:assert/strict";
const { TandemClient } = await import(process.env.SDK);
const baseUrl = process.env.TANDEM_URL;

// What is asserted below of each method. A method of these namespaces that is missing here, or that is never called, fails.
const promises = {
  "client.health": "ready",
  "client.listToolIds": "names of tools",
  "client.listTools": "an array of tools with name, description and schema",
  "client.executeTool": "the tool's output, also by the name in the client's documentation",
  "client.stream": "the run from its first event, whenever it is opened; session.response deltas; one terminal event",
  "client.globalStream": "events of every session",
  "client.runEvents": "the stored events of a run; those behind sinceSeq; the last ones with tail",
  "sessions.create": "an id; model, directory and title are kept",
  "sessions.list": "the session among those found by a word, with its time",
  "sessions.get": "the session; an error once it is deleted",
  "sessions.update": "the new title",
  "sessions.archive": "archived",
  "sessions.delete": "it is gone",
  "sessions.messages": "none, then prompt and answer with their text",
  "sessions.todos": "what the agent put on its list",
  "sessions.activeRun": "the open run, then null",
  "sessions.promptAsync": "a run id",
  "sessions.promptAsyncParts": "a run of text and an attached file, which the model gets",
  "sessions.promptSync": "the answer's text",
  "sessions.abort": "ok; the run is cancelled",
  "sessions.cancel": "ok; the run is cancelled",
  "sessions.cancelRun": "ok; the run is cancelled",
  "sessions.fork": "a session with the same title and conversation",
  "sessions.diff": "the files that tools changed, and how",
  "sessions.revert": "ok; the last prompt and its answer are taken back",
  "sessions.unrevert": "ok; they are there again",
  "sessions.children": "the fork",
  "sessions.summarize": "ok, and a summary by the model",
  "sessions.attach": "ok; the session's folder is the new one",
  "permissions.list": "what waits, with tool and session; standing rules with owner and end",
  "permissions.reply": "refused without a deciding token; once, always and reject with one",
  "questions.list": "the question's text and choices",
  "questions.reply": "ok; the answer reaches the model",
  "questions.reject": "ok; the model hears that nobody answers",
  "providers.catalog": "providers, models, which are connected",
  "providers.config": "the default, also after it was changed",
  "providers.setDefaults": "config shows it",
  "providers.setApiKey": "authStatus shows it; the key is in no file in the clear (the Go test looks)",
  "providers.authStatus": "connected or not",
  "mcp.list": "connectors with state, none when all were deleted",
  "mcp.listTools": "none, then the tools of an accepted connector",
  "mcp.listResources": "an array",
  "mcp.add": "ok",
  "mcp.connect": "an error when nobody is there; where to sign in when that is wanted",
  "mcp.disconnect": "ok; disabled",
  "mcp.refresh": "ok and how many tools",
  "mcp.patch": "ok; the allowlist is in force",
  "mcp.setEnabled": "ok; list shows it",
  "mcp.delete": "ok; it is gone",
  "mcp.auth": "ok, or where to sign in",
  "mcp.deleteAuth": "ok; signed out",
  "mcp.authCallback": "ok; signed in",
  "mcp.authenticate": "where to sign in",
  "mcp.catalogToml": "text that describes the connector",
  "resources.list": "items below a prefix, with values",
  "resources.write": "ok; refused when the revision is another",
  "resources.get": "key, value, rev; an error once it is deleted",
  "resources.putKey": "ok",
  "resources.patchKey": "ok; the value is the new one",
  "resources.delete": "ok; refused when the revision is another",
  "resources.deleteKey": "ok",
  "resources.events": "changes as they happen, and from a place on",
};
// Not of the core set: the token is given to the constructor, _request is internal, signing in with a Codex account comes later.
const beside = /^client\.(setToken|_request|_requestText)$|^sessions\.setToken$|^providers\.oauth/;

const called = new Set();
function recorded(name, target) {
  return new Proxy(target, {
    get(o, key) {
      const v = o[key];
      if (typeof v === "function") {
        return (...args) => {
          called.add(`${name}.${key}`);
          return v.apply(o, args);
        };
      }
      return v && typeof v === "object" ? recorded(key, v) : v;
    },
  });
}
const client = recorded("client", new TandemClient({ baseUrl, token: process.env.TANDEM_API_TOKEN }));
const person = recorded("client", new TandemClient({ baseUrl, token: process.env.DECIDING_TOKEN }));
{
  const plain = new TandemClient({ baseUrl, token: "t" });
  const methods = [];
  for (const [name, o] of [["client", plain], ...["sessions", "permissions", "questions", "providers", "mcp", "resources"].map((n) => [n, plain[n]])])
    for (const m of Object.getOwnPropertyNames(Object.getPrototypeOf(o))) if (m !== "constructor" && !beside.test(`${name}.${m}`)) methods.push(`${name}.${m}`);
  assert.deepEqual(methods.sort(), Object.keys(promises).sort());
}

async function until(get) {
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    const got = await get();
    if (got) return got;
    await new Promise((r) => setTimeout(r, 20));
  }
  throw new Error("it never came");
}
const waits = (id) => () => client.permissions.list().then((l) => l.requests.find((r) => r.status === "pending" && r.sessionID === id));
async function ended(id, runId) {
  const types = [];
  let text = "";
  for await (const e of client.stream(id, runId)) {
    types.push(e.type);
    if (e.type === "session.response") text += e.properties.delta;
  }
  return { types, text };
}
const fake = { provider: "fake", model: "scripted-1" };

const health = await client.health();
assert.equal(health.ready, true);
const ids = await client.listToolIds();
assert(ids.includes("read") && ids.includes("bash"), ids.join());
const read = (await client.listTools()).find((t) => t.name === "read");
assert(read.description && (read.input_schema ?? read.inputSchema).properties.path, JSON.stringify(read));
const listed = await client.executeTool("workspace_list_files", {});
assert.match(listed.output, /README.md/);

// sessions
const id = await client.sessions.create({ title: "core", directory: process.env.FOLDER, ...fake });
assert.equal((await client.sessions.get(id)).title, "core");
const found = (await client.sessions.list({ q: "core" })).sessions.find((s) => s.id === id);
assert.equal(found.title, "core");
assert(Math.abs(Date.now() - (found.createdAtMs ?? found.created_at_ms)) < 600_000, JSON.stringify(found));
assert.equal((await client.sessions.update(id, { title: "renamed" })).title, "renamed");
assert.deepEqual(await client.sessions.messages(id), []);
assert.deepEqual(await client.sessions.todos(id), []);
assert.equal(await client.sessions.promptSync(id, "[[say hello back]]"), "hello back");
const said = await client.sessions.messages(id);
assert.deepEqual(said.map((m) => m.parts[0].text), ["[[say hello back]]", "hello back"]);

// a run, its stream from the start, its stored events
const { runId } = await client.sessions.promptAsync(id, '[[tool todo {"todos":[{"content":"one","status":"pending"}]} ;; tool read {"path":"README.md"}]] [[say all done]]');
await new Promise((r) => setTimeout(r, 300)); // whatever happened before the connection is not lost
const seen = [];
let text = "";
for await (const e of client.stream(id, runId)) {
  seen.push(e.type);
  assert(["server.connected", "engine.lifecycle.ready"].includes(e.type) || (e.runId === runId && e.sessionId === id), JSON.stringify(e));
  if (e.type === "session.response") text += e.properties.delta;
}
assert.equal(text, "all done");
for (const want of ["session.run.started", "session.tool_call", "session.tool_result", "message.part.updated", "todo.updated", "run.completed", "session.run.finished"]) assert(seen.includes(want), want + " in " + seen);
assert.equal(seen.filter((t) => t === "session.run.finished").length, 1);
const stored = await client.runEvents(runId);
assert(stored.some((e) => e.type === "run.completed"));
assert.deepEqual((await client.runEvents(runId, { tail: 2 })).map((e) => e.type), stored.slice(-2).map((e) => e.type));
const half = stored[Math.floor(stored.length / 2)].seq;
const later = await client.runEvents(runId, { sinceSeq: half });
assert(later.length > 0 && later.length < stored.length && later.every((e) => e.seq > half), JSON.stringify(later.map((e) => e.seq)));
assert.equal((await client.sessions.todos(id))[0].content, "one");

// a long answer is whole, and so is the event that holds it; a client that comes back gets what came behind its place, and no more
const big = "lorem ipsum ".repeat(4000).trim();
const loud = await client.sessions.promptAsync(id, `[[say ${big}]]`);
assert.equal((await ended(id, loud.runId)).text, big);
async function frames(query, headers = {}) {
  const res = await fetch(`${baseUrl}/event?sessionID=${id}&runID=${loud.runId}${query}`, { headers: { Authorization: `Bearer ${process.env.TANDEM_API_TOKEN}`, ...headers } });
  return (await res.text()).split("\n\n").filter((f) => f.includes("data: ")).map((f) => ({ id: /^id: (.*)$/m.exec(f)?.[1], event: JSON.parse(/^data: (.*)$/m.exec(f)[1]) }));
}
const everything = await frames("");
const placed = everything.filter((f) => f.id);
const place = placed[Math.floor(placed.length / 2)];
const rest = everything.slice(everything.indexOf(place) + 1).map((f) => f.event.type);
for (const back of [await frames("", { "Last-Event-ID": place.id }), await frames(`&since_seq=${place.id}`)])
  assert.deepEqual(back.map((f) => f.event.type).filter((t) => !["server.connected", "engine.lifecycle.ready"].includes(t)), rest);

// an approval, answered by a person's token and by nobody else's
const ask = await client.sessions.promptAsync(id, '[[tool write {"path":"out.txt","content":"sent once"}]] [[say written]]');
const request = await until(waits(id));
assert.equal(request.tool, "write");
assert((await client.sessions.activeRun(id)).active);
await assert.rejects(client.permissions.reply(request.id, "once"));
assert((await person.permissions.reply(request.id, "once")).ok);
assert.equal((await ended(id, ask.runId)).text, "written");
const no = await client.sessions.promptAsync(id, '[[tool write {"path":"no.txt","content":"never"}]] [[result]]');
assert((await person.permissions.reply((await until(waits(id))).id, "reject")).ok);
assert.match((await ended(id, no.runId)).text, /denied|refused|no\b/i);
assert.equal((await client.sessions.activeRun(id)).active ?? null, null);
const diff = await client.sessions.diff(id);
assert(diff.files.length === 1 && diff.diff.includes("+sent once"), JSON.stringify(diff));

// a question, whose answer reaches the agent
const q = await client.sessions.promptAsync(id, '[[tool question {"questions":[{"question":"Which colour?","options":[{"label":"Blue"}]}]}]] [[result]]');
const asked = () => client.questions.list().then((l) => l.questions[0]);
const open = await until(asked);
assert.equal(open.text, "Which colour?");
assert.deepEqual(open.choices, ["Blue"]);
assert((await client.questions.reply(open.id, "Blue")).ok);
assert.match((await ended(id, q.runId)).text, /Blue/);
const q2 = await client.sessions.promptAsync(id, '[[tool question {"questions":[{"question":"Sure?"}]}]] [[result]]');
assert((await client.questions.reject((await until(asked)).id)).ok);
assert.match((await ended(id, q2.runId)).text, /does not want to answer/);

// text and a file beside it
const file = { type: "file", mime: "text/plain", filename: "note.txt", url: "data:text/plain;base64," + Buffer.from("buy milk").toString("base64") };
const parts = await client.sessions.promptAsyncParts(id, [{ type: "text", text: "[[prompt]]" }, file]);
await ended(id, parts.runId);
assert((await client.sessions.messages(id)).some((m) => m.parts.some((p) => (p.text ?? "").includes("buy milk"))));

// cancel in three ways, fork, children, revert, summarize, archive, attach, delete
for (const stop of [(run) => client.sessions.cancelRun(id, run), () => client.sessions.cancel(id), () => client.sessions.abort(id)]) {
  const slow = await client.sessions.promptAsync(id, "[[slow 30]]");
  assert((await stop(slow.runId)).ok);
  assert((await ended(id, slow.runId)).types.includes("run.cancelled"));
}
const copy = await client.sessions.fork(id);
assert.equal(copy.title, "renamed");
assert((await client.sessions.children(id)).some((s) => s.id === copy.id));
await client.sessions.promptSync(copy.id, "[[say to be taken back]]");
const whole = (await client.sessions.messages(copy.id)).length;
assert((await client.sessions.revert(copy.id)).ok);
assert.equal((await client.sessions.messages(copy.id)).length, whole - 2);
assert((await client.sessions.unrevert(copy.id)).ok);
assert.equal((await client.sessions.messages(copy.id)).length, whole);
const sum = await client.sessions.summarize(id);
assert(sum.ok && sum.summary.length > 0);
assert((await client.sessions.attach(copy.id, process.env.FOLDER)).ok);
assert.equal((await client.sessions.get(copy.id)).directory, process.env.FOLDER);
assert.equal((await client.sessions.archive(copy.id)).archived, true);
await client.sessions.delete(copy.id);
await assert.rejects(client.sessions.get(copy.id));

// providers
const catalog = await client.providers.catalog();
assert(catalog.all.some((p) => p.id === "anthropic") && catalog.connected.includes("local"));
assert.equal((await client.providers.config()).default, "local");
assert((await client.providers.authStatus()).local.connected);

await person.providers.setApiKey("openai", "sk-sdk-0123456789");
assert((await client.providers.authStatus()).openai.connected);
await person.providers.setDefaults("fake", "scripted-1");
assert.equal((await client.providers.config()).providers.fake.default_model, "scripted-1");
await person.providers.setDefaults("local", "echo-1");

// resources, and what happens to them
const changes = [];
const watching = (async () => {
  for await (const e of client.resources.events()) {
    changes.push(e);
    if (e.type === "resource.deleted") break;
  }
})();
await until(async () => changes.length >= 2); // connected
assert((await client.resources.putKey("project/sdk", { a: 1 })).ok);
const got = await client.resources.get("project/sdk");
assert(got.key === "project/sdk" && got.value.a === 1, JSON.stringify(got));
assert((await client.resources.write({ key: "project/sdk", value: { a: 2 }, if_match_rev: got.rev })).ok);
await assert.rejects(client.resources.write({ key: "project/sdk", value: { a: 3 }, if_match_rev: got.rev }));
assert((await client.resources.patchKey("project/sdk", { value: { a: 4 } })).ok);
const items = (await client.resources.list({ prefix: "project/sdk" })).items;
assert(items.length === 1 && items[0].value.a === 4, JSON.stringify(items));
await assert.rejects(client.resources.delete("project/sdk", { if_match_rev: got.rev }));
assert((await client.resources.delete("project/sdk")).ok);
await assert.rejects(client.resources.get("project/sdk"));
await watching;
const mine = changes.filter((e) => e.properties.key === "project/sdk");
assert.deepEqual(mine.map((e) => e.type), ["resource.updated", "resource.updated", "resource.updated", "resource.deleted"]);
assert((await client.resources.putKey("project/sdk", 1)).ok && (await client.resources.deleteKey("project/sdk")).ok);
const replay = [];
for await (const e of client.resources.events({ sinceSeq: mine[0].properties.seq })) {
  if (e.properties.key === "project/sdk") replay.push(e.type);
  if (replay.length === 5) break;
}
assert.deepEqual(replay, ["resource.updated", "resource.updated", "resource.deleted", "resource.updated", "resource.deleted"]);

// outside servers: the path is shared with the server's own MCP door
assert((await person.mcp.add({ name: "docs", transport: "http://127.0.0.1:1/mcp" })).ok);
assert.equal((await client.mcp.list()).docs.connected, false);
assert.deepEqual(await client.mcp.listTools(), []);
assert.deepEqual(await client.mcp.listResources(), []);
await assert.rejects(person.mcp.connect("docs")); // nobody is there
assert((await person.mcp.setEnabled("docs", false)).ok);
assert.equal((await client.mcp.list()).docs.enabled, false);
assert((await person.mcp.delete("docs")).ok);
assert.deepEqual(await client.mcp.list(), {});

// a connector that wants a sign-in: where to go, the browser's answer, signed in, signed out
await person.mcp.add({ name: "mail", transport: process.env.MAIL_URL });
const wanted = await person.mcp.connect("mail");
assert.equal(wanted.pendingAuth, true);
const back = async (url) => {
  const res = await fetch(url, { redirect: "manual" });
  assert.equal(res.status, 302, await res.text());
  return Object.fromEntries(new URL(res.headers.get("location")).searchParams);
};
assert((await person.mcp.authCallback("mail", await back(wanted.authorizationUrl))).ok);
assert.equal((await client.mcp.list()).mail.state, "quarantined"); // a person has to accept what it offers
assert.match(await client.mcp.catalogToml("mail"), /^name = "mail"$/m);
assert.equal((await person.mcp.refresh("mail")).count, 1);
assert((await person.mcp.patch("mail", { allowed_tools: ["say"] })).ok);
assert.deepEqual((await client.mcp.list()).mail.allowedTools ?? (await client.mcp.list()).mail.allowed_tools, ["say"]);
assert((await person.mcp.deleteAuth("mail")).ok);
assert.equal((await client.mcp.list()).mail.state, "auth_required");
const again = await person.mcp.authenticate("mail");
assert((await person.mcp.authCallback("mail", await back(again.authorizationUrl))).ok);
assert((await person.mcp.auth("mail")).ok);
assert((await person.mcp.disconnect("mail")).ok);
assert.equal((await client.mcp.list()).mail.enabled, false);
assert((await person.mcp.delete("mail")).ok);

// always: a standing rule, shown with its owner and end, which the next call passes by
const more = await client.sessions.promptAsync(id, '[[tool bash {"command":"echo again"}]] [[tool bash {"command":"echo again and again"}]] [[say passed]]');
const bash = await until(waits(id));
await assert.rejects(client.permissions.reply(bash.id, "always"));
await person.permissions.reply(bash.id, "always");
assert.equal((await ended(id, more.runId)).text, "passed");
const rules = (await client.permissions.list()).rules;
assert(rules.some((r) => r.pattern === "bash(command: echo again)" && r.sessionID === id && r.owner === "owner" && r.expiresAtMs > Date.now()), JSON.stringify(rules));

// everything that happens, in one stream
const all = client.globalStream();
const types = [];
const listening = (async () => {
  for await (const e of all) {
    types.push(e.type);
    if (e.type === "session.run.finished") break;
  }
})();
await until(async () => types.includes("server.connected"));
await client.sessions.promptSync(id, "[[say to everybody]]");
await listening;
assert(types.includes("server.connected") && types.includes("run.completed"), types.join());
for (const m of Object.keys(promises)) assert(called.has(m), m + " was not called");
console.log(`core set ok: ${Object.keys(promises).length} methods`);
process.exit(0); // the client leaves its stream open
