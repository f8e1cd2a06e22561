package told

import (
	"slices"
	"strings"
)

// phrases are the words for events whose name does not say them: what was done, and what somebody wants to do.
var phrases = map[string][2]string{
	"approval.always":         {"lets calls like an ask pass from now on", "let calls like an ask pass"},
	"approval.decide":         {"answered an ask", "answer an ask"},
	"approval.decide_several": {"answered several asks", "answer several asks"},
	"approval.expire":         {"let asks run out", "let asks run out"},
	"approval.forget":         {"took a standing answer back", "take a standing answer back"},
	"assertion.key_add":       {"enrolled a key for assertions", "enrol a key for assertions"},
	"assertion.key_revoke":    {"revoked a key for assertions", "revoke a key for assertions"},
	"assertion.rejected":      {"showed an assertion that was rejected", "show an assertion"},
	"audit.confirm":           {"confirmed what the journal did not vouch for", "confirm what the journal does not vouch for"},
	"audit.forget":            {"deleted old details of the journal", "delete old details of the journal"},
	"automation.accept":       {"said what became of a step", "say what became of a step"},
	"automation.command":      {"ran a command of an automation", "run a command of an automation"},
	"automation.deliver":      {"took a webhook's message", "take a webhook's message"},
	"automation.changed":      {"began a run for a change", "begin a run for a change"},
	"automation.hook":         {"made a webhook's address", "make a webhook's address"},
	"automation.notice":       {"looked at what happened for automations", "look at what happened for automations"},
	"automation.off":          {"switched an automation off", "switch an automation off"},
	"automation.on":           {"switched an automation on", "switch an automation on"},
	"automation.pass":         {"passed a gate of an automation", "pass a gate of an automation"},
	"automation.replay":       {"replayed a webhook's message", "replay a webhook's message"},
	"automation.retry":        {"repeated a step of a run", "repeat a step of a run"},
	"automation.run":          {"began a run of an automation", "begin a run of an automation"},
	"automation.skip":         {"skipped a step of a run", "skip a step of a run"},
	"automation.tick":         {"looked at what is due", "look at what is due"},
	"board.cancel":            {"cancelled a task", "cancel a task"},
	"board.comment":           {"commented on a task", "comment on a task"},
	"board.depend":            {"said what a task waits for", "say what a task waits for"},
	"board.edit":              {"edited a task", "edit a task"},
	"board.expire":            {"let claims of tasks run out", "let claims of tasks run out"},
	"board.finding":           {"noted a finding", "note a finding"},
	"board.handoff":           {"handed a task over", "hand a task over"},
	"board.plan":              {"planned tasks", "plan tasks"},
	"board.reopen":            {"reopened a task", "reopen a task"},
	"board.take_back":         {"took a task back", "take a task back"},
	"board.unclaim":           {"gave a task back", "give a task back"},
	"connector.call":          {"called a connector's tool", "call a connector's tool"},
	"connector.command":       {"added a program as a connector", "add a program as a connector"},
	"connector.login":         {"signed a connector in", "sign a connector in"},
	"connector.logout":        {"signed a connector out", "sign a connector out"},
	"connector.secret":        {"lent a connector a secret", "lend a connector a secret"},
	"connector.sync":          {"asked a connector what it offers", "ask a connector what it offers"},
	"device.challenge":        {"asked for a word to sign", "ask for a word to sign"},
	"device.wrong":            {"showed a wrong proof from a device", "show a proof from a device"},
	"folder.grant":            {"let sessions work in", "let sessions work in"},
	"folder.revoke":           {"took a folder from sessions:", "take a folder from sessions:"},
	"forge.merge":             {"merged a pull request at its forge", "merge a pull request at its forge"},
	"forge.moved":             {"found something new at a forge", "look at a forge"},
	"forge.post":              {"posted a job as a pull request", "post a job as a pull request"},
	"forge.sync":              {"looked at a pull request", "look at a pull request"},
	"forge.tell":              {"told a job's agent what people wrote at a forge", "tell a job's agent what people wrote at a forge"},
	"gate.stranger":           {"came without a name and was turned away", "come in without a name"},
	"job.back":                {"sent a job back", "send a job back"},
	"job.merge":               {"merged a job", "merge a job"},
	"job.prepare":             {"let dependencies of a job be fetched", "let dependencies of a job be fetched"},
	"job.moved":               {"went on with a job", "go on with a job"},
	"job.noted":               {"noted something about a job", "note something about a job"},
	"job.review":              {"had another agent look at a job", "have another agent look at a job"},
	"job.send":                {"told a job's agent something", "tell a job's agent something"},
	"job.unseen":              {"looked for jobs whose news nobody saw", "look for jobs whose news nobody saw"},
	"join.enter":              {"let a machine in", "let a machine in"},
	"join.invite":             {"made an invitation", "make an invitation"},
	"join.redeem":             {"used an invitation", "use an invitation"},
	"join.revoke":             {"revoked an invitation", "revoke an invitation"},
	"knowledge.add":           {"added an item to a knowledge space", "add an item to a knowledge space"},
	"knowledge.change":        {"changed a knowledge space", "change a knowledge space"},
	"knowledge.close":         {"deleted a knowledge space", "delete a knowledge space"},
	"knowledge.create":        {"made a knowledge space", "make a knowledge space"},
	"knowledge.deprecate":     {"deprecated an item of a knowledge space", "deprecate an item of a knowledge space"},
	"knowledge.promote":       {"promoted an item of a knowledge space", "promote an item of a knowledge space"},
	"knowledge.remove":        {"deleted an item of a knowledge space", "delete an item of a knowledge space"},
	"login.add":               {"logged in at a server", "log in at a server"},
	"login.device":            {"made the key of a login", "make the key of a login"},
	"login.forward":           {"sent a call on to a server", "send a call on to a server"},
	"login.pin":               {"changed the PIN of a login", "change the PIN of a login"},
	"login.use":               {"chose the server of commands", "choose the server of commands"},
	"memory.add":              {"remembered something", "remember something"},
	"memory.demote":           {"took a memory back", "take a memory back"},
	"memory.edit":             {"mended a memory", "mend a memory"},
	"memory.export":           {"read everything that is remembered", "read everything that is remembered"},
	"memory.forget":           {"forgot a memory", "forget a memory"},
	"memory.import":           {"brought memories in", "bring memories in"},
	"memory.promote":          {"made a memory live", "make a memory live"},
	"memory.propose":          {"proposed something to remember", "propose something to remember"},
	"oauth.clear":             {"let sign-ins of programs run out", "let sign-ins of programs run out"},
	"oauth.consent":           {"let a program act", "let a program act"},
	"oauth.exchange":          {"gave a program its token", "give a program its token"},
	"oauth.look":              {"looked at a program that wants to sign in", "look at a program that wants to sign in"},
	"oauth.register":          {"noted a program that wants to sign in", "note a program that wants to sign in"},
	"owner.add":               {"made somebody an owner", "make somebody an owner"},
	"owner.hand_over":         {"handed ownership over", "hand ownership over"},
	"owner.remove":            {"took ownership from somebody", "take ownership from somebody"},
	"pack.install":            {"installed a pack", "install a pack"},
	"pack.remove":             {"removed a pack", "remove a pack"},
	"person.away":             {"is away", "be away"},
	"person.back":             {"is back", "be back"},
	"person.enter":            {"logged in on a machine", "log in on a machine"},
	"person.logout":           {"logged out on a machine", "log out on a machine"},
	"pin.set":                 {"set the PIN", "set the PIN"},
	"pin.wrong":               {"typed a wrong PIN", "type a PIN"},
	"policy.edit":             {"changed the rules", "change the rules"},
	"policy.label":            {"labelled", "label"},
	"provider.default":        {"chose the model of sessions", "choose the model of sessions"},
	"provider.key":            {"stored the key of a provider:", "store the key of a provider:"},
	"question.answer":         {"answered an agent's question", "answer an agent's question"},
	"queue.add":               {"queued a job", "queue a job"},
	"queue.evict":             {"took a job out of its queue", "take a job out of its queue"},
	"queue.priority":          {"moved a job in its queue", "move a job in its queue"},
	"queue.protect":           {"had a branch move by its queue alone", "have a branch move by its queue alone"},
	"queue.push":              {"pushed what a queue merged", "push what a queue merged"},
	"queue.train":             {"took several jobs of a queue together", "take several jobs of a queue together"},
	"recovery.begin":          {"began to replace the PIN as root", "begin to replace the PIN as root"},
	"recovery.codes":          {"made recovery codes", "make recovery codes"},
	"recovery.stop":           {"stopped root from replacing the PIN", "stop root from replacing the PIN"},
	"recovery.use":            {"replaced a forgotten PIN", "replace a forgotten PIN"},
	"recovery.wrong":          {"typed a wrong recovery code", "type a recovery code"},
	"relay.do":                {"led a relay", "lead a relay"},
	"relay.end":               {"ended a relay", "end a relay"},
	"repo.changed":            {"changed a repository", "change a repository"},
	"repo.gc":                 {"swept a repository", "sweep a repository"},
	"repo.git_fetch":          {"fetched from a git remote", "fetch from a git remote"},
	"repo.git_push":           {"pushed to a git remote", "push to a git remote"},
	"repo.keep_older":         {"kept a repository's older state", "keep a repository's older state"},
	"repo.lease":              {"reserved paths of a repository", "reserve paths of a repository"},
	"repo.pull":               {"took in what others did in", "take in what others did in"},
	"repo.push":               {"sent changes of", "send changes of"},
	"repo.return":             {"brought back what a repository had", "bring back what a repository had"},
	"repo.return_unsigned":    {"brought back what a repository had, unsigned", "bring back what a repository had, unsigned"},
	"resource.delete":         {"deleted", "delete"},
	"resource.put":            {"wrote", "write"},
	"resource.sweep":          {"let keys run out", "let keys run out"},
	"schedule.now":            {"had the server do at once", "have the server do at once"},
	"schedule.remove":         {"had the server no longer do by itself", "have the server no longer do by itself"},
	"schedule.run":            {"did what was scheduled", "do what was scheduled"},
	"schedule.set":            {"had the server do by itself", "have the server do by itself"},
	"secret.set":              {"sealed the secret", "seal the secret"},
	"secret.unmask":           {"looked at the secret", "look at the secret"},
	"server.backup":           {"made a copy of everything", "make a copy of everything"},
	"server.clock":            {"noticed that the clock moved", "notice that the clock moved"},
	"server.invite":           {"was shown the first invitation", "see the first invitation"},
	"server.key_copy":         {"gave the server's keys to a second one", "give the server's keys to a second one"},
	"server.key_rotated":      {"replaced a key of the server", "replace a key of the server"},
	"server.mode":             {"changed whom requests are for", "change whom requests are for"},
	"server.moved":            {"began to use another database", "begin to use another database"},
	"server.rotate":           {"replaced a key of the server", "replace a key of the server"},
	"server.stop":             {"stopped the server", "stop the server"},
	"session.cancel":          {"cancelled a turn of", "cancel a turn of"},
	"session.checkout":        {"looked at a session's checkout", "look at a session's checkout"},
	"session.checkout_gone":   {"took a session's checkout away", "take a session's checkout away"},
	"session.checkout_made":   {"made a checkout for a session", "make a checkout for a session"},
	"session.create":          {"began a session", "begin a session"},
	"session.hook":            {"reported from its program", "report from its program"},
	"session.keep":            {"kept a session's changes", "keep a session's changes"},
	"session.model_call":      {"asked its model", "ask its model"},
	"session.open":            {"opened an agent's program", "open an agent's program"},
	"session.probe":           {"tried an agent's program", "try an agent's program"},
	"session.prompt":          {"gave work to", "give work to"},
	"session.quieted":         {"had its turns ended with its job", "have its turns ended with its job"},
	"session.reap":            {"ended what closed sessions left behind", "end what closed sessions left behind"},
	"session.revert":          {"took back the newest prompt of", "take back the newest prompt of"},
	"session.send":            {"gave work to", "give work to"},
	"session.skip":            {"let a session skip its permissions", "let a session skip its permissions"},
	"session.take":            {"took a session's terminal over", "take a session's terminal over"},
	"session.terminal_answer": {"answered a dialog of", "answer a dialog of"},
	"session.tool":            {"used a tool", "use a tool"},
	"session.turn_ended":      {"ended its turn", "end its turn"},
	"session.type":            {"typed into", "type into"},
	"session.unconfine":       {"let a session out of its box", "let a session out of its box"},
	"session.unrevert":        {"brought back what was taken back of", "bring back what was taken back of"},
	"session.unskip":          {"ended that a session skips its permissions", "end that a session skips its permissions"},
	"setting.keep":            {"kept how the server was started", "keep how the server was started"},
	"signin.end":              {"signed a browser out", "sign a browser out"},
	"signin.key":              {"gave a browser its key", "give a browser its key"},
	"signin.leave":            {"signed out of the panel", "sign out of the panel"},
	"signin.link":             {"made a link that signs in", "make a link that signs in"},
	"signin.start":            {"signed in to the panel", "sign in to the panel"},
	"source.sync":             {"read a source again", "read a source again"},
	"space.changed":           {"changed the members of a space", "change the members of a space"},
	"space.guard":             {"had commits heed a space's leases", "have commits heed a space's leases"},
	"space.hand_over":         {"handed a space's host over", "hand a space's host over"},
	"space.inbox":             {"read the mail of a space", "read the mail of a space"},
	"space.invite":            {"made an invitation to a space", "make an invitation to a space"},
	"space.invite_close":      {"closed an invitation to a space", "close an invitation to a space"},
	"space.invite_open":       {"opened an invitation to a space", "open an invitation to a space"},
	"space.knock":             {"knocked at a space", "knock at a space"},
	"space.knock_next":        {"waited for a knock at a space", "wait for a knock at a space"},
	"space.knock_reply":       {"answered a knock at a space", "answer a knock at a space"},
	"space.piece_put":         {"sent a piece of an attachment", "send a piece of an attachment"},
	"space.post":              {"sent something sealed to a space", "send something sealed to a space"},
	"space.remote":            {"called a space's host", "call a space's host"},
	"space.send":              {"sent a message in a space", "send a message in a space"},
	"space.send_files":        {"sent files in a space", "send files in a space"},
	"space.set_var":           {"set a variable of a space", "set a variable of a space"},
	"space.step_down":         {"stopped hosting a space", "stop hosting a space"},
	"space.surfaced":          {"saw a message of a space", "note that a message of a space was seen"},
	"space.sweep":             {"let old mail of spaces go", "let old mail of spaces go"},
	"space.take_over":         {"became the host of a space", "become the host of a space"},
	"team.approve":            {"approved a team's plan", "approve a team's plan"},
	"team.plan":               {"changed a team's plan", "change a team's plan"},
	"tenant.create":           {"made the tenant", "make the tenant"},
	"tenant.contents":         {"counted what a tenant has", "count what a tenant has"},
	"tenant.erase":            {"had the tenant erased", "erase the tenant"},
	"tenant.erased":           {"erased the tenant", "erase the tenant"},
	"tenant.export":           {"exported the tenant", "export the tenant"},
	"tenant.import":           {"took in a tenant from another server", "take in a tenant from another server"},
	"tenant.invite":           {"invited a person into the tenant", "invite a person into the tenant"},
	"tenant.limit":            {"limited the tenant", "limit the tenant"},
	"tenant.resume":           {"resumed the tenant", "resume the tenant"},
	"tenant.suspend":          {"suspended the tenant", "suspend the tenant"},
	"token.new":               {"made a token for", "make a token for"},
	"tool.apply_patch":        {"changed files", "change files"},
	"tool.bash":               {"ran a command", "run a command"},
	"tool.edit":               {"edited", "edit"},
	"tool.tandem":             {"called tandem", "call tandem"},
	"tool.task":               {"handed a task to a session of its own", "hand a task to a session of its own"},
	"tool.todo":               {"wrote its list of things to do", "write its list of things to do"},
	"tool.webfetch":           {"read a page of the web", "read a page of the web"},
	"tool.websearch":          {"searched the web", "search the web"},
	"tool.write":              {"wrote the file", "write the file"},
	"tunnel.share":            {"opened a public address", "open a public address"},
	"tunnel.stop":             {"closed the public address", "close the public address"},
	"workspace.forward":       {"sent on what a workspace says", "send on what a workspace says"},
	"workspace.reach":         {"looked for a server", "look for a server"},
	"workspace.rekey":         {"accepted another key of a server", "accept another key of a server"},
}

// irregular are verbs whose past does not end in ed, and regular are those whose past does: no other is guessed.
var (
	irregular = map[string]string{"put": "put", "set": "set", "send": "sent", "take": "took", "give": "gave", "make": "made",
		"keep": "kept", "stop": "stopped", "read": "read", "leave": "left", "get": "got", "show": "showed", "forget": "forgot"}
	regular = strings.Fields("accept add adopt admit anchor attach cancel change check claim close comment confine create cross delete " +
		"disable discard enqueue evict expire explain export follow fork import inject interrupt join list log mend pause preview protect " +
		"quarantine release remove rename reserve rejoin restore resume retry revoke rotate search share start sync test tidy trace " +
		"trust turn unclaim update verify wait watch")
)

// words are what an event's type says: "actor.add" is "added an actor" and "add an actor". One whose verb is not known is told by its
// name.
func words(kind string) (did, want string) {
	if p, ok := phrases[kind]; ok {
		return p[0], p[1]
	}
	noun, verb, ok := strings.Cut(kind, ".")
	first, rest, _ := strings.Cut(verb, "_")
	past := irregular[first]
	switch {
	case past != "":
	case !ok || !slices.Contains(regular, first):
		return "did " + kind, "do " + kind
	case strings.HasSuffix(first, "e"):
		past = first + "d"
	case strings.HasSuffix(first, "y"):
		past = first[:len(first)-1] + "ied"
	default:
		past = first + "ed"
	}
	article := " a "
	if strings.ContainsAny(noun[:1], "aeiou") {
		article = " an "
	}
	if rest != "" {
		rest = " " + strings.ReplaceAll(rest, "_", " ")
	}
	return past + rest + article + noun, first + rest + article + noun
}

// Known says whether an event of this type is told in a sentence, and not by its name.
func Known(kind string) bool {
	did, _ := words(kind)
	return did != "did "+kind
}
