// Every method of automations, routines and workflows of the published client, unmodified, with the least that its documentation asks for:
// those that are here answer in its shapes, and the others say 501 and what to do instead.
import assert from "node:assert/strict";
const { TandemClient } = await import(process.env.SDK);
const baseUrl = process.env.TANDEM_URL;
const plain = new TandemClient({ baseUrl, token: process.env.TANDEM_API_TOKEN });
const called = {};
const table = {};
const snake = (name) => name.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase());
const note = (row, e) => {
  const said = String(e).match(/501.*"next":"([^"]*)"/s);
  if (said) table[row] ??= "501: " + said[1];
  else if (/\(403/.test(String(e))) table[row] = "mapped, for a person who decides";
  else if (/\(409/.test(String(e))) table[row] ??= "mapped"; // not at this moment
};
const client = Object.fromEntries(["automationsV2", "automations", "routines", "workflows"].map((family) => {
  called[family] = new Set();
  return [family, new Proxy(plain[family], { get(to, name) {
    if (typeof to[name] !== "function") return to[name];
    called[family].add(name);
    const row = snake(family) + "." + snake(name);
    return (...args) => {
      const out = to[name](...args);
      if (out instanceof Promise) out.then(() => { table[row] = "mapped"; }, (e) => note(row, e));
      return out;
    };
  } })];
}));
const person = new TandemClient({ baseUrl, token: process.env.DECIDING_TOKEN });
const v2 = client.automationsV2;
const until = async (what, is) => {
  for (let n = 0; n < 600; n++) {
    const got = await is();
    if (got) return got;
    await new Promise((r) => setTimeout(r, 100));
  }
  throw new Error("never: " + what);
};
// while a run looks at its gate again, it waits at none
const answered = (call, want) => until("an answer", async () => {
  let said = "200";
  await call().catch((e) => { said = String(e); });
  if (/409/.test(said)) return false;
  assert.match(said, want);
  return true;
});

const list = await v2.list();
assert.equal(list.count, 1);
assert.equal(list.automations[0].automation_id, "gated");
assert.equal(list.automations[0].status, "active");
assert.match((await v2.get("gated")).automation.definition, /name = "gated"/);
assert.equal((await v2.runNow("gated", { dryRun: true })).dry_run, true);
const begun = (await v2.runNow("gated")).run;
assert.equal(begun.status, "running");
const waits = await until("it waits at the gate", async () => {
  const { run } = await v2.getRun(begun.run_id);
  return run.checkpoint.awaiting_gate && run;
});
assert.equal(waits.checkpoint.awaiting_gate.node_id, "look");
assert.deepEqual(waits.checkpoint.completed_nodes, ["put"]);
await answered(() => v2.gateDecide(begun.run_id, { decision: "approve" }), /403/); // a token that does not decide
await answered(() => person.automationsV2.gateDecide(begun.run_id, { decision: "approve" }), /200/);
await until("it is over", async () => (await v2.getRun(begun.run_id)).run.status === "completed");
await assert.rejects(person.automationsV2.gateDecide(begun.run_id, { decision: "approve" }), /409/);
const runs = await v2.listRuns("gated");
assert(runs.runs.some((r) => r.run_id === begun.run_id) && runs.count === runs.runs.length);
const second = (await v2.runNow("gated")).run.run_id;
assert.equal((await v2.pauseRun(second, "wait")).run.status, "paused");
assert.notEqual((await v2.resumeRun(second)).run.status, "paused");
await v2.pauseRun(second);
assert.notEqual((await v2.recoverRun(second)).run.status, "paused");
assert.equal((await v2.cancelRun(second, "no")).run.status, "cancelled");
assert.equal((await v2.listWebhookTriggers("gated")).triggers[0].trigger_id, "hook");
assert.equal((await v2.getWebhookTrigger("gated", "hook")).trigger.provider, "generic");
assert.deepEqual((await v2.listWebhookDeliveries("gated", "hook")).deliveries, []);
assert.deepEqual((await v2.listHandoffs("gated")).counts, { inbox: 0, approved: 0, archived: 0, total: 0 });
await assert.rejects(v2.get("nothing"), /404/);
await assert.rejects(v2.retryTask(second, "put"), /403/); // a person mends
for (const [name, call] of Object.entries({
  update: () => v2.update("gated", {}),
  resume: () => v2.resume("gated"), repair: () => v2.repairRun(second, { node_id: "put" }),
  preview: () => v2.previewTaskReset(second, "put"), go: () => v2.continueTask(second, "put"), requeue: () => v2.requeueTask(second, "put"),
  claim: () => v2.claimBacklogTask(second, "t"), again: () => v2.requeueBacklogTask(second, "t"),
  summary: () => v2.graduationSummary(), hook: () => v2.createWebhookTrigger("gated", {}),
  change: () => v2.updateWebhookTrigger("gated", "hook", {}), end: () => v2.disableWebhookTrigger("gated", "hook"),
  drop: () => v2.deleteWebhookTrigger("gated", "hook"), rotate: () => v2.rotateWebhookSecret("gated", "hook"),
  delivery: () => v2.getWebhookDelivery("gated", "hook", "d"), done: () => v2.setTaskDisposition(second, "put", "done"),
  hooks: () => client.workflows.listHooks(), patch: () => client.workflows.patchHook("h", {}),
  validate: () => client.workflows.validate({}), simulate: () => client.workflows.simulate({}),
})) {
  await assert.rejects(call, /501/, name);
}

// what a client describes is stored, and switched off
const drawn = (await v2.create({ name: "Weekly brief", schedule: { type: "cron", cronExpression: "0 9 * * 1", timezone: "Europe/Berlin",
  misfirePolicy: "run_once" }, agents: [{ agentId: "w", displayName: "W", modelPolicy: { default_model: { provider_id: "fake", model_id: "scripted-1" } } }],
flow: { nodes: [{ nodeId: "collect", agentId: "w", objective: 'Collect "all" {{secret}}' },
  { nodeId: "write_up", agentId: "w", objective: "Write", dependsOn: ["collect"], inputRefs: [{ fromStepId: "collect", alias: "facts" }] }] } })).automation;
assert.equal(drawn.id, "weekly-brief");
assert.equal(drawn.status, "draft");
assert.match(drawn.definition, /schedule = "0 9 \* \* 1"\nzone = "Europe\/Berlin"\nmisfire = "once"/);
assert.match(drawn.definition, /id = "write-up"\nafter = \["collect"\]\ninputs = { facts = "collect.text" }/);
assert.match(drawn.definition, /model = "fake\/scripted-1"/);
await assert.rejects(v2.runNow("weekly-brief"), /409/); // a person switches it on
await assert.rejects(v2.create({ name: "Weekly brief", agents: [], flow: { nodes: [{ nodeId: "a", objective: "x" }] } }), /409/);
await assert.rejects(v2.create({ name: "x", agents: [], flow: { nodes: [] } }), /400/); // it does nothing
await assert.rejects(v2.create({ name: "x", agents: [], flow: { nodes: [{ nodeId: "a", objective: "x", gate: { required: true } }] } }), /400/);
assert.equal((await client.routines.create({ name: "nightly", schedule: "0 0 * * *", prompt: "Look" })).routine.status, "disabled");
assert.equal((await client.automations.create({ name: "hourly", schedule: { type: "interval", intervalMs: 3600000 },
  mission: { objective: "Look" }, policy: {} })).automation.id, "hourly");
for (const name of ["weekly-brief", "nightly", "hourly"]) await v2.delete(name);

for (const older of [client.routines, client.automations]) {
  const all = await older.list();
  const one = (all.routines ?? all.automations)[0];
  assert.equal(one.id, "gated");
  assert.equal(one.status, "enabled");
  const ran = await older.runNow("gated");
  const id = ran.runId ?? ran.runID ?? ran.run_id;
  assert.match(id, /^run_/);
  await until("it made something", async () => (await older.listArtifacts(id)).artifacts.length === 1);
  assert.equal((await older.listArtifacts(id)).artifacts[0].kind, "markdown");
  assert.equal((await older.getRun(id)).status, "running");
  await until("it waits at the gate", async () => (await v2.getRun(id)).run.checkpoint.awaiting_gate);
  await answered(() => older.denyRun(id, "no"), /403/);
  await answered(() => older.approveRun(id), /403/);
  await answered(() => (older === client.routines ? person.routines : person.automations).denyRun(id, "no"), /200/);
  await until("it is cancelled", async () => (await older.getRun(id)).status === "canceled");
  assert((await older.listRuns({})).runs.length >= 3);
  await older.history("gated");
  const of = await (older.getRunsForRoutine ?? older.getRunsForAutomation)("gated");
  assert(of.runs.some((r) => r.run_id === id));
  await assert.rejects(older.pauseRun(id), /409/); // it is over
  await assert.rejects(older.resumeRun(id), /409/);
  await assert.rejects(older.delete("gated"), /409/); // it is switched on
  await assert.rejects(older.update("gated", {}), /501/);
  await assert.rejects(older.addArtifact(id, { uri: "x", kind: "y" }), /501/);
}

assert.equal((await client.workflows.list()).workflows.length, 1);
await client.workflows.get("gated");
const flow = await client.workflows.run("gated");
assert.match(flow.run.run_id, /^run_/);
assert((await client.workflows.listRuns()).runs.length > 3);
await until("it waits at the gate", async () => (await client.workflows.getRun(flow.run.run_id)).checkpoint.awaiting_gate);
assert.equal((await v2.pause("gated")).automation.status, "paused");
await assert.rejects(v2.runNow("gated"), /409|403|400/); // it is switched off
await v2.cancelRun(flow.run.run_id);
assert.equal((await v2.delete("gated")).deleted, true);
for (const family of Object.values(client)) {
  await assert.rejects(async () => {
    for await (const e of family.events()) assert.fail(JSON.stringify(e));
  }, (e) => { note(snake(Object.keys(client).find((name) => client[name] === family)) + ".events", e); return /501/.test(String(e)); });
}
const left = Object.entries(called).flatMap(([family, names]) => Object.getOwnPropertyNames(Object.getPrototypeOf(plain[family]))
  .filter((name) => name !== "constructor" && !names.has(name)).map((name) => family + "." + name));
assert.deepEqual(left, []);
console.log(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)).map(([row, is]) => "| `" + row + "` | " + is + " |").join("\n"));
