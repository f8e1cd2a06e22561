package daemon

// Why an operation's answer holds nothing of a file.
const (
	ownRows     = "rows of ours: who, what and when, and nothing out of folders"
	forPeople   = "only a person who is present does it"
	areWords    = "what people, agents or programs said: whoever may read a conversation, a mail or the journal reads it"
	namesNoFile = "ids, bookmarks, workspaces and what people wrote about commits; or what the caller itself said of files"
	endsWalk    = "it ends, begins or moves what the walk stands on, and its answer names that; it is not called here"
)

// carriers are the operations whose answers can hold what is in a file, or what it is called. Of those that are true the walk shows that
// they do while nothing is denied; the others need a program, a crash or another server, or show it
// only to those who decide.
var carriers = map[string]bool{
	"git clone":        true,
	"approval.content": false,
	"approval.get":     false,
	"approval.list":    false,
	"approval.page":    false,
	"approval.wait":    false,
	"aside.get":        false,
	"aside.list":       false,
	"job.diff":         false,
	"job.image":        false,
	"memory.search":    true,
	"repo.change":      true,
	"repo.lease":       false,
	"repo.leases":      true,
	"repo.pull":        false,
	"repo.release":     false,
	"session.diff":     true,
	"session.revert":   false,
	"session.tool":     false,
	"session.unrevert": false,
	"source.search":    true,
	"source.show":      false,
	"space.inbox":      true,
	"space.share":      false,
	"space.wait":       false,
	"tool.apply_patch": false,
	"tool.bash":        true,
	"tool.edit":        true,
	"tool.glob":        true,
	"tool.grep":        true,
	"tool.list":        true,
	"tool.read":        true,
	"tool.tandem":      true,
	"tool.write":       true,
}

// quiet are all other operations, each with its reason.
var quiet = map[string]string{}

func saying(why string, names ...string) {
	for _, n := range names {
		quiet[n] = why
	}
}

func init() {
	saying("what another server answers to this user's own terminal", "login.forward")
	saying(ownRows, "signin.key",
		"actor.list", "actor.whoami", "approval.expire", "approval.forget", "approval.rules", "aside.discard", "audit.adopted",
		"automation.cancel", "automation.command", "automation.list", "automation.off", "automation.pass", "automation.pause", "automation.tick",
		"automation.remove", "automation.deliver", "automation.hooks", "automation.notice", "automation.replay",
		"automation.changed", "automation.look", "pack.list", "pack.preview",
		"automation.resume",
		"audit.anchor", "audit.verify", "budget.list", "connector.add", "connector.list", "connector.login", "connector.logout",
		"connector.remove", "connector.secret", "connector.sync", "connector.update", "folder.list", "grant.list", "group.list",
		"group.show", "person.aways",
		"join.enter", "join.invites", "join.redeem", "login.add", "login.device", "login.forget",
		"login.list", "login.pin", "login.use",
		"device.challenge", "device.list", "person.enter", "person.list", "person.show", "person.logout",
		"oauth.exchange", "oauth.forget", "oauth.register", "passkey.list", "pin.set", "policy.context", "policy.explain",
		"policy.vocabulary", "policy.why_not",
		"policy.show", "policy.test", "provider.add", "provider.default", "provider.key", "provider.list", "provider.models",
		"provider.remove", "question.answer", "recovery.begin", "recovery.show", "recovery.use", "relay.enqueue", "relay.inject",
		"relay.stop", "resource.delete", "resource.sweep", "schedule.list", "schedule.run",
		"secret.delete", "secret.list", "secret.set", "server.findings", "server.health",
		"server.invite", "server.logs", "server.metrics", "server.ready", "server.settings", "server.status", "server.tls_moves",
		"session.cancel", "session.confine", "session.create", "session.probe", "session.programs", "session.skip", "session.skips",
		"session.tools", "session.unconfined", "session.unskip", "setting.set", "signin.link", "signin.list",
		"signin.start", "space.hand_over", "space.hosted", "space.invite", "space.invite_close", "space.invite_open", "space.knock",
		"space.knock_next", "space.knock_reply", "space.list", "space.peers", "space.phrase", "space.receipt", "space.remote", "space.rename",
		"space.revoke", "space.start", "space.surfaced", "space.verify", "space.whoami", "token.list", "tunnel.share", "tunnel.status",
		"access.list", "assertion.keys", "tenant.contents", "tenant.list", "tenant.show", "tunnel.stop", "workspace.reach", "workspace.trust")
	saying(ownRows, "artifact.keep", "artifact.remove")
	saying(areWords, "artifact.compare", "artifact.get", "artifact.list", "artifact.show")
	saying(areWords, "knowledge.add", "knowledge.ask", "knowledge.item", "knowledge.list", "knowledge.show")
	saying(areWords, "context.add", "context.append", "context.board", "context.checkpoint", "context.checkpoints", "context.claim",
		"context.events", "context.list", "context.next", "context.patch", "context.place", "context.replay", "context.show", "context.start",
		"context.transition")
	saying(ownRows, "context.remove")
	saying(forPeople, "knowledge.change", "knowledge.close", "knowledge.create", "knowledge.deprecate", "knowledge.promote",
		"knowledge.remove")
	saying(ownRows, "source.list", "source.pause", "source.quarantine", "source.sync")
	saying(forPeople, "assertion.key_add", "assertion.key_revoke", "tenant.create", "tenant.erase", "tenant.export", "tenant.import",
		"tenant.invite",
		"tenant.limit", "tenant.resume", "tenant.suspend")
	saying(forPeople, "device.revoke", "person.remove", "source.add", "source.import", "source.preview", "source.resume", "source.revoke")
	saying(forPeople, "group.add", "group.remove", "owner.add", "owner.hand_over", "owner.remove", "person.away", "person.back")
	saying(forPeople, "actor.add", "actor.disable", "approval.always", "approval.decide", "approval.decide_several", "aside.keep",
		"automation.accept", "automation.hook", "automation.on", "automation.repair", "automation.retry", "automation.skip",
		"audit.confirm", "audit.export", "audit.forget", "budget.set", "connector.accept", "connector.command", "folder.grant",
		"grant.add", "grant.take",
		"grant.revoke", "join.invite", "join.revoke",
		"memory.add", "memory.edit", "memory.export", "memory.forget", "memory.import", "memory.model_clear", "memory.model_set",
		"memory.promote",
		"oauth.clear", "oauth.consent", "oauth.look", "pack.install", "pack.remove", "passkey.add", "passkey.remove",
		"policy.edit", "policy.label", "recovery.codes", "recovery.stop", "repo.keep_older", "secret.rotate", "secret.unmask",
		"schedule.now", "schedule.remove", "schedule.set", "server.backup", "server.key_copy", "server.restore",
		"server.rotate", "session.release", "session.take", "session.type", "session.unconfine", "setting.keep", "phone.off", "phone.set",
		"signin.end",
		"space.take_over", "token.new", "token.revoke", "workspace.rekey")
	saying(areWords, "job.back", "job.check", "job.comment", "job.get", "job.list", "job.resume", "job.review", "job.send",
		"job.start", "job.stop", "job.viewed", "job.wait")
	saying(ownRows, "job.unseen", "memory.model")
	saying(forPeople, "forge.add", "forge.merge", "forge.post", "forge.remove")
	saying(ownRows, "forge.get", "forge.list")
	saying(areWords, "forge.draft", "forge.issue", "forge.issues", "forge.sync", "forge.tell")
	saying(forPeople, "job.merge", "job.prepare", "queue.add", "queue.protect", "queue.push", "queue.resume")
	saying(forPeople, "team.approve", "team.plan")
	saying(areWords, "team.get", "team.list", "team.pause", "team.resume", "team.start", "team.stop", "team.wait")
	saying(areWords, "queue.evict", "queue.list", "queue.pause", "queue.priority")
	saying(areWords, "automation.rehearse", "automation.review")
	saying(areWords, "automation.draft", "automation.hand", "automation.handoffs")
	saying(areWords, "automation.add", "automation.run", "automation.runs", "automation.show", "automation.ticks", "automation.trace",
		"audit.log", "audit.prove", "audit.show", "audit.tile", "board.add", "board.adopt", "board.archive", "board.cancel", "board.change",
		"board.claim", "board.comment", "board.depend", "board.edit", "board.expire", "board.finding", "board.findings", "board.handoff",
		"board.plan", "board.reopen", "board.show", "board.structure",
		"board.take_back", "board.unclaim", "board.update", "connector.call", "event.stream", "inbox.list",
		"memory.brief", "memory.demote", "memory.history",
		"memory.list", "memory.propose", "memory.show", "question.list", "relay.do",
		"relay.list", "relay.read", "relay.start", "resource.get", "resource.list", "resource.put", "session.events", "session.follow",
		"session.fork", "session.get", "session.hook", "session.interrupt", "session.list", "session.live", "session.messages",
		"session.model_call", "session.prompt", "session.screen", "session.send", "session.turn", "session.turns", "session.watch",
		"space.activity", "space.attach", "space.attachment", "space.get_var", "space.piece_get", "space.piece_put", "space.post",
		"space.pull", "space.send", "space.send_files", "space.set_var", "space.sweep", "tool.question", "tool.task",
		"tool.todo", "tool.webfetch", "tool.websearch")
	saying(namesNoFile, "repo.check", "repo.cross", "repo.gc", "repo.git_fetch", "repo.git_push", "repo.graph", "repo.list", "repo.mend",
		"repo.older", "repo.push", "repo.return", "repo.return_unsigned", "repo.status", "repo.watch", "space.changed", "space.guard",
		"space.leases", "space.moved", "space.release", "workspace.admit", "workspace.claim", "workspace.forward", "workspace.list")
	saying(endsWalk, "folder.revoke", "session.update", "space.reserve", "server.stop", "session.checkout", "session.close", "session.delete",
		"session.discard", "session.keep",
		"session.open", "session.reap", "signin.leave", "space.create", "space.join", "space.leave", "space.rejoin", "space.remove",
		"space.step_down")
}
