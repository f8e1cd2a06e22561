package told

import "strings"

// phrases are the words for events whose name does not say them: what was done, and what somebody wants to do.
var phrases = map[string][2]string{
	"approval.always":         {"lets calls like an ask pass from now on", "let calls like an ask pass"},
	"approval.decide":         {"answered an ask", "answer an ask"},
	"approval.decide_several": {"answered several asks", "answer several asks"},
	"approval.expire":         {"let asks run out", "let asks run out"},
	"approval.forget":         {"took a standing answer back", "take a standing answer back"},
	"audit.confirm":           {"confirmed what the journal did not vouch for", "confirm what the journal does not vouch for"},
	"audit.forget":            {"deleted old details of the journal", "delete old details of the journal"},
	"board.plan":              {"planned tasks", "plan tasks"},
	"board.edit":              {"edited a task", "edit a task"},
	"board.reopen":            {"reopened a task", "reopen a task"},
	"board.cancel":            {"cancelled a task", "cancel a task"},
	"board.comment":           {"commented on a task", "comment on a task"},
	"board.unclaim":           {"gave a task back", "give a task back"},
	"board.take_back":         {"took a task back", "take a task back"},
	"connector.call":          {"called a connector's tool", "call a connector's tool"},
	"connector.command":       {"added a program as a connector", "add a program as a connector"},
	"connector.sync":          {"asked a connector what it offers", "ask a connector what it offers"},
	"folder.grant":            {"let sessions work in", "let sessions work in"},
	"folder.revoke":           {"took a folder from sessions:", "take a folder from sessions:"},
	"gate.stranger":           {"came without a name and was turned away", "come in without a name"},
	"join.enter":              {"let a machine in", "let a machine in"},
	"join.invite":             {"made an invitation", "make an invitation"},
	"join.redeem":             {"used an invitation", "use an invitation"},
	"job.merge":               {"merged a job", "merge a job"},
	"job.moved":               {"went on with a job", "go on with a job"},
	"join.revoke":             {"revoked an invitation", "revoke an invitation"},
	"memory.add":              {"remembered something", "remember something"},
	"memory.demote":           {"took a memory back", "take a memory back"},
	"memory.edit":             {"mended a memory", "mend a memory"},
	"memory.export":           {"read everything that is remembered", "read everything that is remembered"},
	"memory.forget":           {"forgot a memory", "forget a memory"},
	"memory.import":           {"brought memories in", "bring memories in"},
	"memory.promote":          {"made a memory live", "make a memory live"},
	"memory.propose":          {"proposed something to remember", "propose something to remember"},
	"oauth.consent":           {"let a program act", "let a program act"},
	"oauth.exchange":          {"gave a program its token", "give a program its token"},
	"oauth.register":          {"noted a program that wants to sign in", "note a program that wants to sign in"},
	"pin.set":                 {"set the PIN", "set the PIN"},
	"pin.wrong":               {"typed a wrong PIN", "type a PIN"},
	"policy.edit":             {"changed the rules", "change the rules"},
	"policy.label":            {"labelled", "label"},
	"provider.default":        {"chose the model of sessions", "choose the model of sessions"},
	"provider.key":            {"stored the key of a provider:", "store the key of a provider:"},
	"question.answer":         {"answered an agent's question", "answer an agent's question"},
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
	"repo.push":               {"sent changes of", "send changes of"},
	"resource.put":            {"wrote", "write"},
	"resource.delete":         {"deleted", "delete"},
	"resource.sweep":          {"let keys run out", "let keys run out"},
	"schedule.remove":         {"had the server no longer do by itself", "have the server no longer do by itself"},
	"schedule.run":            {"did what was scheduled", "do what was scheduled"},
	"schedule.set":            {"had the server do by itself", "have the server do by itself"},
	"secret.set":              {"sealed the secret", "seal the secret"},
	"secret.unmask":           {"looked at the secret", "look at the secret"},
	"server.backup":           {"made a copy of everything", "make a copy of everything"},
	"server.clock":            {"noticed that the clock moved", "notice that the clock moved"},
	"server.key_rotated":      {"replaced a key of the server", "replace a key of the server"},
	"server.moved":            {"began to use another database", "begin to use another database"},
	"server.rotate":           {"replaced a key of the server", "replace a key of the server"},
	"server.stop":             {"stopped the server", "stop the server"},
	"session.cancel":          {"cancelled a turn of", "cancel a turn of"},
	"session.checkout_gone":   {"took a session's checkout away", "take a session's checkout away"},
	"session.checkout_made":   {"made a checkout for a session", "make a checkout for a session"},
	"session.create":          {"began a session", "begin a session"},
	"session.hook":            {"reported from its program", "report from its program"},
	"session.model_call":      {"asked its model", "ask its model"},
	"session.open":            {"opened an agent's program", "open an agent's program"},
	"session.prompt":          {"gave work to", "give work to"},
	"session.quieted":         {"had its turns ended with its job", "have its turns ended with its job"},
	"session.reap":            {"ended what closed sessions left behind", "end what closed sessions left behind"},
	"session.revert":          {"took back the newest prompt of", "take back the newest prompt of"},
	"session.send":            {"gave work to", "give work to"},
	"session.terminal_answer": {"answered a dialog of", "answer a dialog of"},
	"session.tool":            {"used a tool", "use a tool"},
	"session.turn_ended":      {"ended its turn", "end its turn"},
	"session.unrevert":        {"brought back what was taken back of", "bring back what was taken back of"},
	"setting.keep":            {"kept how the server was started", "keep how the server was started"},
	"signin.link":             {"made a link that signs in", "make a link that signs in"},
	"signin.start":            {"signed in to the panel", "sign in to the panel"},
	"signin.key":              {"gave a browser its key", "give a browser its key"},
	"signin.end":              {"signed a browser out", "sign a browser out"},
	"signin.leave":            {"signed out of the panel", "sign out of the panel"},
	"space.inbox":             {"read the mail of a space", "read the mail of a space"},
	"space.send":              {"sent a message in a space", "send a message in a space"},
	"space.post":              {"sent something sealed to a space", "send something sealed to a space"},
	"space.surfaced":          {"saw a message of a space", "note that a message of a space was seen"},
	"space.set_var":           {"set a variable of a space", "set a variable of a space"},
	"space.take_over":         {"became the host of a space", "become the host of a space"},
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
	"workspace.rekey":         {"accepted another key of a server", "accept another key of a server"},
}

// irregular are verbs whose past does not end in ed.
var irregular = map[string]string{"put": "put", "set": "set", "send": "sent", "take": "took", "give": "gave", "make": "made",
	"keep": "kept", "mend": "mended", "stop": "stopped", "read": "read", "leave": "left", "cross": "crossed"}

// words are what an event's type says: "actor.add" is "added an actor" and "add an actor".
func words(kind string) (did, want string) {
	if p, ok := phrases[kind]; ok {
		return p[0], p[1]
	}
	noun, verb, ok := strings.Cut(kind, ".")
	if !ok {
		return "did " + kind, "do " + kind
	}
	first, rest, _ := strings.Cut(verb, "_")
	past := irregular[first]
	switch {
	case past != "":
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
