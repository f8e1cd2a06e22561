// Every method of coder, missions, agentTeams and worktrees of the published client, unmodified, with the least that its documentation asks
// for. Prints what each is: mapped, or 501 and what to do instead.
import assert from "node:assert/strict";
const { TandemClient } = await import(process.env.SDK);
const plain = new TandemClient({ baseUrl: process.env.TANDEM_URL, token: process.env.TANDEM_API_TOKEN });
const person = new TandemClient({ baseUrl: process.env.TANDEM_URL, token: process.env.DECIDING_TOKEN });
const folder = process.env.FOLDER;
const table = {};
const snake = (name) => name.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase());
const client = Object.fromEntries(["coder", "missions", "agentTeams", "worktrees"].map((family) => [family,
  new Proxy(plain[family], { get: (to, name) => (...args) => {
    const row = snake(family) + "." + snake(name);
    return to[name](...args).then((out) => { table[row] = "mapped"; return out; }, (e) => {
      const said = String(e).match(/501.*"next":"([^"]*)"/s);
      table[row] ??= said ? "501: " + said[1] : "refused";
      throw e;
    });
  } })]));
const { coder, missions, agentTeams, worktrees } = client;
const until = async (what, is) => {
  for (let n = 0; n < 600; n++) {
    const got = await is();
    if (got) return got;
    await new Promise((r) => setTimeout(r, 100));
  }
  throw new Error("never: " + what);
};

const begun = await coder.createRun({ workflow_mode: "issue_fix", model_provider: "fake", model_id: "scripted-1",
  objective: '[[tool write {"path":"out.txt","content":"made"}]] [[say done]]',
  repo_binding: { project_id: "p", workspace_id: "w", workspace_root: folder, repo_slug: "acme/code" } });
const id = begun.coder_run.coder_run_id;
assert.match(id, /^job_/);
assert.equal(begun.coder_run.repo_binding.workspace_root, folder);
await until("its agent asks", async () => (await coder.getRun(id)).coderRun.needs);
const waits = await until("it is not at work", async () => {
  for (const r of (await person.permissions.list()).requests) {
    if (r.status === "pending") await person.permissions.reply(r.id, "once");
  }
  const got = await coder.getRun(id);
  return !["queued", "running"].includes(got.coderRun.status) && got;
});
assert.equal(waits.run.run_id, id);
assert.equal(waits.coderRun.status, "awaiting_approval", JSON.stringify(waits));
assert.equal(waits.coderRun.phase, "approval");
assert.equal((await coder.executeNext(id)).coder_run.status, "awaiting_approval"); // it works by itself
assert.equal((await coder.executeAll(id)).coder_run.coder_run_id, id);
const runs = await coder.listRuns({ limit: 1 });
assert(runs.count === 1 && runs.runs[0].coder_run_id === id);
assert.equal((await coder.listRuns({ workflowMode: "pr_review" })).count, 0);
assert.equal((await coder.listRuns({ repoSlug: "other" })).count, 0);
assert.equal((await coder.listRuns({ repoSlug: "code" })).count, 1);
const made = await coder.listArtifacts(id);
assert(made.count === made.artifacts.length && made.artifacts.some((a) => a.artifact_type === "coder_issue_fix_summary"));
assert(made.artifacts.some((a) => a.artifact_type === "coder_patch_summary" && a.commit === waits.run.commit));
assert(made.artifacts.every((a) => a.id && a.path.startsWith("/jobs/" + id)));
const kept = await worktrees.cleanup({ repoRoot: folder, dryRun: true });
assert(kept.ok && kept.dry_run && kept.active_paths.length === 1 && kept.cleaned_worktrees.length === 0, JSON.stringify(kept));
assert.equal((await worktrees.cleanup({ repoRoot: "/nowhere" })).tracked_paths.length, 0);
assert.equal((await coder.cancelRun(id, "no")).coder_run.status, "cancelled");
assert.equal((await coder.executeAll(id)).coder_run.status, "cancelled"); // what somebody stopped stays stopped
await assert.rejects(coder.getRun("job_nothing"), /404/);
await assert.rejects(coder.createRun({}), /400/); // no task
await assert.rejects(coder.createRun({ objective: "x", model_id: "m" }), /400/);
await assert.rejects(coder.createRun({ objective: "x", workflow_mode: "dance" }), /400/);
await assert.rejects(coder.createRun({ objective: 7 }), /400/);
await assert.rejects(coder.createRun({ workflow_mode: "pr_review", repo_binding: { repo_slug: "code" } }), /501/);
await assert.rejects(coder.createRun({ workflow_mode: "issue_fix", github_ref: { kind: "issue", number: 1 } }), /501/);
const { mission } = await missions.create({ title: "Billing", goal: "Move it to the new API", workItems: [{ title: "Move the client" }] });
assert.match(mission.id, /^team_/);
assert.equal(mission.title, "Billing");
assert.match(mission.goal, /new API[^]*- Move the client/);
assert(["draft", "paused"].includes((await missions.get(mission.id)).mission.status)); // its lead only repeats what it hears
const all = await missions.list();
assert(all.count === 2 && all.missions[0].mission_id === mission.id); // and one whose plan waits
assert.equal((await agentTeams.listMissions()).missions[0].missionID, mission.id);
assert.equal((await agentTeams.listInstances({ missionID: "team_other" })).count, 0);
const [plan] = (await agentTeams.listApprovals()).spawnApprovals;
assert(plan.missionID === all.missions[1].id && plan.status === "pending" && plan.work_items[0].title === "one", JSON.stringify(plan));
assert.equal(all.missions[1].status, "draft");
assert.equal((await missions.applyEvent(mission.id, { type: "mission_paused" })).mission.status, "paused");
assert.equal((await missions.applyEvent(mission.id, { type: "mission_canceled" })).mission.status, "canceled");
await assert.rejects(missions.applyEvent(mission.id, { type: "mission_resumed" }), /409/); // it is over
await assert.rejects(missions.applyEvent(mission.id, { type: "timer_fired" }), /501/);
await assert.rejects(missions.applyEvent(mission.id, {}), /400/);
await assert.rejects(missions.create({ title: "x" }), /400/);
await assert.rejects(missions.get("team_nothing"), /404/);

for (const family of Object.keys(client)) { // the others, with the least
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(plain[family]))) {
    if (name !== "constructor" && !table[snake(family) + "." + snake(name)]) {
      const first = ["createTemplate", "composeStandup", "spawn"].includes(name) ? {} : id;
      await assert.rejects(client[family][name](first, name === "promoteMemoryCandidate" ? "c" : {}), /501/, name);
    }
  }
}
console.log(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)).map(([row, is]) => "| `" + row + "` | " + is + " |").join("\n"));
