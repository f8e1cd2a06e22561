package client

// present are the operations that only a person present may call.
var present = map[string]bool{
	"actor.add": true, "actor.disable": true, "aside.keep": true, "approval.always": true, "approval.decide": true,
	"approval.decide_several": true, "automation.accept": true, "automation.hook": true, "automation.on": true, "automation.repair": true,
	"automation.retry": true, "automation.skip": true,
	"assertion.key_add": true, "assertion.key_revoke": true,
	"audit.confirm": true, "audit.export": true, "audit.forget": true,
	"budget.set": true, "connector.accept": true, "connector.command": true, "device.revoke": true,
	"folder.grant": true, "forge.add": true, "forge.merge": true, "forge.post": true, "forge.remove": true,
	"grant.add": true, "grant.take": true, "grant.revoke": true, "group.add": true, "group.remove": true,
	"job.merge":   true,
	"job.prepare": true,
	"join.invite": true, "join.revoke": true,
	"context.remove":   true,
	"knowledge.change": true, "knowledge.close": true, "knowledge.create": true, "knowledge.deprecate": true, "knowledge.promote": true,
	"knowledge.remove": true,
	"memory.add":       true, "memory.demote": true, "memory.edit": true, "memory.export": true, "memory.forget": true, "memory.history": true,
	"memory.import": true, "memory.model_clear": true, "memory.model_set": true, "memory.promote": true,
	"oauth.clear": true, "oauth.consent": true, "oauth.look": true, "owner.add": true, "owner.hand_over": true,
	"owner.remove": true, "pack.install": true, "pack.remove": true,
	"passkey.add": true, "passkey.remove": true, "person.remove": true, "person.away": true, "person.back": true, "phone.off": true,
	"phone.set":   true,
	"policy.edit": true, "policy.label": true, "queue.add": true, "queue.protect": true, "queue.push": true, "queue.resume": true,
	"team.approve": true, "team.plan": true,
	"tenant.create": true, "tenant.erase": true, "tenant.export": true, "tenant.import": true,
	"tenant.invite": true, "tenant.limit": true, "tenant.resume": true, "tenant.suspend": true,
	"recovery.codes": true, "recovery.stop": true,
	"repo.keep_older": true,
	"secret.rotate":   true, "secret.unmask": true, "schedule.now": true, "schedule.remove": true, "schedule.set": true,
	"server.backup": true, "server.key_copy": true, "server.restore": true, "server.rotate": true,
	"setting.keep": true, "session.release": true, "session.take": true, "session.type": true, "session.unconfine": true,
	"signin.end": true, "signin.key": true, "source.add": true, "source.import": true, "source.preview": true,
	"source.resume": true, "source.revoke": true, "space.take_over": true, "token.new": true, "workspace.rekey": true, "token.revoke": true,
}

// NeedsPresence reports whether an operation is known to be refused without a
// person present, so that the proof can come with the first call: a call
// without it is a refusal in the journal.
func NeedsPresence(operation string) bool { return present[operation] }
