package policy

// DefaultGrants are what a new house starts with. They are heard only where no person's grant or rule speaks, except for
// their denials, which always count.
//
// The owners may everything (with presence where the right needs it). Other people have everyday rights and answer asks; who is to
// grant, mint and administer is given that by an owner. The local socket and the API's token have everyday rights; so has the terminal
// of a person elsewhere, which asks before it changes files here or runs a tool that is not known to be harmless. Agents, sessions and
// other services work in the shared rooms and read, sessions of other sessions only what they opened; they ask before they change files,
// push or fetch with git, run a tool that is not known to be harmless, or change settings. Nobody but a person delegates or administers.
func DefaultGrants() []ScopedGrant {
	everyday := []AccessPermission{CanView, CanRead, CanEdit, CanExecute}
	look := []AccessPermission{CanView, CanRead}
	out := []ScopedGrant{
		tree("default-owner", Person, AnyKind, Allow, permissions, AnyClass),
		tree("default-local", Local, AnyKind, Allow, everyday, AnyClass),
		tree("default-api", Service, AnyKind, Allow, everyday, AnyClass),
		tree("default-clock", Service, KindApproval, Allow, []AccessPermission{CanEdit}, Internal),
	}
	out[0].Principal = PrincipalRef{Kind: GroupOf, ID: Owners}
	out[1].Principal.ID, out[2].Principal.ID = "local", "api"
	out[3].Principal.ID, out[3].Note = "tandem", "tandem itself writes down which asks ran out of time"
	out = append(out, people(everyday)...)
	for _, who := range []PrincipalKind{Local, Agent, Session, Service} {
		g := tree("default-authority-"+string(who), who, AnyKind, Deny, []AccessPermission{CanDelegate, CanAdmin})
		g.Note = "only a person delegates or administers"
		out = append(out, g)
	}
	for _, who := range []PrincipalKind{Local, Agent, Session, Service} {
		g := tree("default-git-"+string(who), who, KindRepo, Ask, []AccessPermission{CanExecute}, Public, Internal, SourceCode)
		g.Note = "what leaves or enters by git, and what commands agents, needs an approval"
		out = append(out, g)
	}
	for _, who := range []PrincipalKind{Local, Agent, Session, Service} {
		g := tree("default-skip-"+string(who), who, KindTool, Ask, []AccessPermission{CanExecute}, Public, Internal, SourceCode)
		g.Scope.Root.Path, g.Note = "/skip-permissions", "agents that skip their permissions need an approval"
		out = append(out, g)
	}
	for _, who := range []PrincipalKind{Local, Service} {
		g := tree("default-guard-"+string(who), who, KindSetting, Ask, []AccessPermission{CanEdit}, Public, Internal)
		g.Scope.Root.Path, g.Note = "/guard", "where doors, programs and walls are is for a person to change"
		out = append(out, g)
	}
	enter := tree("default-join", Service, KindJoin, Ask, []AccessPermission{CanEdit}, Public, Internal)
	enter.Note = "a newcomer needs an approval"
	redeem := tree("default-join-invited", Service, KindJoin, Allow, []AccessPermission{CanExecute}, Public, Internal)
	enter.Principal.ID, redeem.Principal.ID = "newcomer", "newcomer"
	out = append(out, enter, redeem)
	for _, who := range []PrincipalKind{Agent, Session, Service} {
		p := "default-" + string(who) + "-"
		for _, k := range []ResourceKind{KindResource, KindRepo, KindWorkspace, KindSpace, KindBoard, KindContext, KindNotify} {
			out = append(out, tree(p+string(k), who, k, Allow, everyday, Public, Internal, SourceCode))
		}
		remember := []AccessPermission{CanView, CanRead, CanEdit} // what they write is proposed
		out = append(out, tree(p+string(KindMemory), who, KindMemory, Allow, remember, Public, Internal, SourceCode))
		out = append(out, tree(p+string(KindKnowledge), who, KindKnowledge, Allow, remember, Public, Internal, SourceCode))
		out = append(out, tree(p+string(KindSource), who, KindSource, Allow, look, Public, Internal, SourceCode))
		for _, k := range []ResourceKind{KindSession, KindRelay} {
			g := tree(p+string(k), who, k, Allow, everyday, Public, Internal, SourceCode)
			if who == Session {
				g.Scope.Own, g.Note = true, "a session sees itself and those that it opened"
				out = append(out, opens(p+string(k)+"-open", k))
			}
			out = append(out, g)
		}
		house := []ResourceKind{KindApproval, KindConnector, KindProvider, KindServer}
		if who != Session { // what others do, and how the house is set up, is not a session's to know
			house = append(house, KindJournal, KindPolicy, KindSetting, KindTunnel)
		}
		for _, k := range house {
			out = append(out, tree(p+string(k), who, k, Allow, look, Public, Internal))
		}
		for _, k := range []ResourceKind{KindSetting, KindConnector, KindTunnel} {
			g := tree(p+string(k)+"-change", who, k, Ask, []AccessPermission{CanEdit, CanExecute}, Public, Internal)
			g.Source, g.Note = Fallback, "changing how tandem is set up needs an approval"
			if k == KindConnector {
				g.Note = "using an outside server's tool, or changing the connector to it, needs an approval"
			}
			out = append(out, g)
		}
		out = append(out, tree(p+"folder", who, KindFolder, Allow, look, Public, Internal, SourceCode))
		write := tree(p+"folder-write", who, KindFolder, Ask, []AccessPermission{CanEdit, CanExecute}, Public, Internal, SourceCode)
		write.Source, write.Note = Fallback, "changing files needs an approval"
		out = append(out, write)
		harmless := tree(p+"tool-read", who, KindTool, Allow, []AccessPermission{CanExecute}, Public, Internal, SourceCode)
		harmless.ToolPatterns = harmlessTools
		other := tree(p+"tool", who, KindTool, Ask, []AccessPermission{CanExecute}, Public, Internal, SourceCode)
		other.Source, other.Note = Fallback, "this tool needs an approval"
		hidden := tree(p+"keys", who, KindFolder, Deny, []AccessPermission{CanView})
		hidden.Scope.Only, hidden.Note = keyFiles, "files that hold keys are out of reach"
		touching := tree(p+"keys-by-tool", who, AnyKind, Deny, []AccessPermission{CanView})
		for _, f := range keyFiles {
			touching.ToolPatterns = append(touching.ToolPatterns, "*(path: "+f+")")
		}
		touching.Note = hidden.Note
		out = append(out, harmless, other, hidden, touching)
	}
	return out
}

// people are everybody but the owner, and their terminals elsewhere.
func people(everyday []AccessPermission) (out []ScopedGrant) {
	answers := tree("default-person-answers", Person, KindApproval, Allow, permissions, AnyClass)
	answers.Note = "a person who is present answers asks"
	out = append(out, answers, tree("default-person-look", Person, AnyKind, Allow, []AccessPermission{CanView, CanRead}, AnyClass))
	for _, k := range kinds {
		if authority[k] || k == KindActor { // who may what is an owner's to change
			continue
		}
		if k != KindProvider { // whose account the house's models use is an owner's to choose
			out = append(out, tree("default-person-"+string(k), Person, k, Allow, everyday, AnyClass))
		}
		if k != KindTool && k != KindFolder {
			out = append(out, tree("default-terminal-"+string(k), Local, k, Allow, everyday, AnyClass))
		}
	}
	out = append(out, tree("default-terminal-look", Local, AnyKind, Allow, []AccessPermission{CanView, CanRead}, AnyClass))
	harmless := tree("default-terminal-tool-read", Local, KindTool, Allow, []AccessPermission{CanExecute}, AnyClass)
	harmless.ToolPatterns = harmlessTools
	for _, k := range []ResourceKind{KindTool, KindFolder} {
		g := tree("default-terminal-"+string(k)+"-ask", Local, k, Ask, []AccessPermission{CanEdit, CanExecute}, AnyClass)
		g.Source, g.Note = Fallback, "what a terminal elsewhere changes or runs on this machine needs an approval"
		out = append(out, g)
	}
	return append(out, harmless)
}

// opens lets sessions open something of a kind, which is then their own, and look for what is theirs.
func opens(id string, k ResourceKind) ScopedGrant {
	g := tree(id, Session, k, Allow, []AccessPermission{CanView, CanRead, CanEdit}, Public, Internal, SourceCode)
	g.Scope.MaxDepth, g.Note = new(int), "a session opens others, within what it has itself"
	return g
}

// harmlessTools change nothing and send nothing out. Tandem's own are operations, each of which is judged when it is called.
var harmlessTools = []string{"read", "list", "ls", "glob", "grep", "codesearch", "todo*", "question", "skill", "tandem", "mcp__tandem__*"}

// keyFiles are where programs keep credentials, wherever the folder is.
var keyFiles = []string{
	"/**/.ssh/**", "/**/.gnupg/**", "/**/.aws/**", "/**/.config/gcloud/**", "/**/.docker/config.json", "/**/.kube/config",
	"/**/.git-credentials", "/**/.npmrc", "/**/.netrc", "/**/.pypirc", "/**/.vault-token", "/**/.tandem/**",
	"/**/.env", "/**/.env.local", "/**/.env.production", "/**/.env.development", "/**/.env.staging", "/**/.env.test",
	"/**/id_rsa*", "/**/id_ed25519*", "/**/id_ecdsa*", "/**/id_dsa*",
	"/**/*.pem", "/**/*.p12", "/**/*.pfx", "/**/*.key", "/**/*.keystore", "/**/*.jks", "/**/*.kdbx",
}

func tree(id string, who PrincipalKind, k ResourceKind, e Effect, p []AccessPermission, classes ...DataClass) ScopedGrant {
	return ScopedGrant{ID: id, Principal: PrincipalRef{Kind: who, ID: "*"}, Scope: ResourceScope{Root: ResourceRef{Kind: k, Path: "/"}},
		Effect: e, Permissions: p, DataClasses: classes, Source: Default}
}
