// Every method of the core set, through the published client.
import assert from "node:assert/strict";
const { TandemClient } = await import(process.env.SDK);
const baseUrl = process.env.TANDEM_URL;
const client = new TandemClient({ baseUrl, token: process.env.TANDEM_API_TOKEN });
const person = new TandemClient({ baseUrl, token: process.env.DECIDING_TOKEN });
const fake = { provider: "fake", model: "scripted-1" };

const health = await client.health();
assert.equal(health.ready, true);
const ids = await client.listToolIds();
assert(ids.includes("read") && ids.includes("bash"), ids.join());
assert((await client.listTools()).some((t) => t.name === "read"));
const listed = await client.executeTool("workspace_list_files", {});
assert.match(listed.output, /README.md/);

// sessions
const id = await client.sessions.create({ title: "core", directory: process.env.FOLDER, ...fake });
assert.equal((await client.sessions.get(id)).title, "core");
assert((await client.sessions.list({ q: "core" })).sessions.some((s) => s.id === id));
assert.equal((await client.sessions.update(id, { title: "renamed" })).title, "renamed");
assert.deepEqual(await client.sessions.messages(id), []);
assert.deepEqual(await client.sessions.todos(id), []);
assert.equal(await client.sessions.promptSync(id, "[[say hello back]]"), "hello back");
assert.equal((await client.sessions.messages(id)).length, 2);

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
assert.equal((await client.sessions.todos(id))[0].content, "one");

// an approval, answered by a person's token and by nobody else's
const ask = await client.sessions.promptAsync(id, '[[tool write {"path":"out.txt","content":"sent once"}]] [[say written]]');
let request;
for (let i = 0; i < 200 && !request; i++) {
  request = (await client.permissions.list()).requests.find((r) => r.status === "pending" && r.sessionID === id);
  await new Promise((r) => setTimeout(r, 20));
}
assert.equal(request.tool, "write");
assert((await client.sessions.activeRun(id)).active);
await assert.rejects(client.permissions.reply(request.id, "once"));
await person.permissions.reply(request.id, "once");
for await (const e of client.stream(id, ask.runId)) if (e.type === "run.failed") throw new Error(JSON.stringify(e));
assert.equal((await client.sessions.activeRun(id)).active ?? null, null);
const diff = await client.sessions.diff(id);
assert(diff.files.length === 1 && diff.diff.includes("+sent once"), JSON.stringify(diff));

// a question, whose answer reaches the agent
const q = await client.sessions.promptAsync(id, '[[tool question {"questions":[{"question":"Which colour?","options":[{"label":"Blue"}]}]}]] [[result]]');
let open = [];
for (let i = 0; i < 200 && open.length === 0; i++) {
  const list = await client.questions.list();
  open = list.questions ?? list;
  await new Promise((r) => setTimeout(r, 20));
}
assert.equal(open[0].text, "Which colour?");
await client.questions.reply(open[0].id, "Blue");
text = "";
for await (const e of client.stream(id, q.runId)) if (e.type === "session.response") text += e.properties.delta;
assert.match(text, /Blue/);

// cancel, fork, children, revert, summarize, archive, delete
const slow = await client.sessions.promptAsync(id, "[[slow 30]]");
await client.sessions.cancelRun(id, slow.runId);
for await (const e of client.stream(id, slow.runId)) seen.push(e.type);
assert(seen.includes("run.cancelled"));
const copy = await client.sessions.fork(id);
assert.equal(copy.title, "renamed");
assert((await client.sessions.children(id)).some((s) => s.id === copy.id));
await client.sessions.revert(copy.id);
await client.sessions.unrevert(copy.id);
const sum = await client.sessions.summarize(id);
assert(sum.summary.length > 0);
assert.equal((await client.sessions.archive(copy.id)).archived, true);
await client.sessions.abort(id);
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

// resources
await client.resources.putKey("project/sdk", { a: 1 });
assert.equal((await client.resources.get("project/sdk")).value.a, 1);
assert((await client.resources.list({ prefix: "project/" })).items.length >= 1);
await client.resources.deleteKey("project/sdk");

// outside servers: the path is shared with the server's own MCP door
await person.mcp.add({ name: "docs", transport: "http://127.0.0.1:1/mcp" });
assert.equal((await client.mcp.list()).docs.connected, false);
assert.deepEqual(await client.mcp.listTools(), []);
assert.deepEqual(await client.mcp.listResources(), []);
await assert.rejects(person.mcp.connect("docs")); // nobody is there
await person.mcp.setEnabled("docs", false);
assert.equal((await client.mcp.list()).docs.enabled, false);
await person.mcp.delete("docs");
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
await person.mcp.patch("mail", { allowed_tools: ["say"] });
assert((await person.mcp.deleteAuth("mail")).ok);
assert.equal((await client.mcp.list()).mail.state, "auth_required");
const again = await person.mcp.authenticate("mail");
assert((await person.mcp.authCallback("mail", await back(again.authorizationUrl))).ok);
assert((await person.mcp.disconnect("mail")).ok);
await person.mcp.delete("mail");

// always: a standing rule, shown with its owner and end, which the next call passes by
const more = await client.sessions.promptAsync(id, '[[tool bash {"command":"echo again"}]] [[tool bash {"command":"echo again and again"}]] [[say passed]]');
let bash;
for (let i = 0; i < 200 && !bash; i++) {
  bash = (await client.permissions.list()).requests.find((r) => r.status === "pending" && r.sessionID === id);
  await new Promise((r) => setTimeout(r, 20));
}
await assert.rejects(client.permissions.reply(bash.id, "always"));
await person.permissions.reply(bash.id, "always");
for await (const e of client.stream(id, more.runId)) if (e.type === "run.failed") throw new Error(JSON.stringify(e));
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
await new Promise((r) => setTimeout(r, 300));
await client.sessions.promptSync(id, "[[say to everybody]]");
await listening;
assert(types.includes("server.connected") && types.includes("run.completed"), types.join());
console.log("core set ok");
process.exit(0); // the client leaves its stream open
