package cli

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
)

// source is where the names come from that a shell completes: a list operation, the field of its answer, and of each thing there
// the fields that name it and the one that says what it is.
type source struct {
	op, items string
	in        map[string]any
	names     []string
	about     string
}

var (
	sessions = []source{{"session.live", "sessions", nil, []string{"name"}, "state"},
		{"session.list", "sessions", map[string]any{"limit": 50}, []string{"id"}, "title"}}
	live     = sessions[:1]
	actors   = []source{{"actor.list", "actors", nil, []string{"name"}, "kind"}}
	asks     = []source{{"approval.list", "asks", nil, []string{"id"}, "title"}}
	peers    = []source{{"space.peers", "peers", nil, []string{"username"}, "id"}}
	tasks    = []source{{"board.show", "tasks", map[string]any{"all": true}, []string{"id"}, "title"}}
	repos    = []source{{"repo.list", "items", nil, []string{"name"}, "path"}}
	spaces   = []source{{"space.list", "seats", nil, []string{"title"}, "username"}}
	secrets  = []source{{"secret.list", "secrets", nil, []string{"name"}, "by"}}
	models   = []source{{"provider.list", "providers", nil, []string{"id"}, "name"}}
	programs = []source{{"connector.list", "connectors", nil, []string{"name"}, "state"}}
	keys     = []source{{"resource.list", "items", nil, []string{"key"}, "owner"}}
	memories = []source{{"memory.list", "records", nil, []string{"id"}, "kind"},
		{"memory.list", "records", map[string]any{"state": "proposed"}, []string{"id"}, "kind"}}
	spacesOf = []source{{"knowledge.list", "spaces", nil, []string{"name"}, "purpose"}}
	entries  = []source{{"knowledge.list", "items", map[string]any{"items": true}, []string{"id"}, "title"}}
	folders  = []source{{"source.list", "sources", nil, []string{"name"}, "state"}}
	jobs     = []source{{"job.list", "jobs", map[string]any{"limit": 500}, []string{"id"}, "task"}}
	teams    = []source{{"team.list", "teams", nil, []string{"id"}, "goal"}}
	made     = []source{{"artifact.list", "artifacts", nil, []string{"name"}, "kind"}}
	works    = []source{{"automation.list", "automations", nil, []string{"name"}, "title"}}
	runs     = []source{{"automation.runs", "runs", nil, []string{"id"}, "automation"}}
	contexts = []source{{"context.list", "runs", nil, []string{"id"}, "objective"}}
	relays   = []source{{"relay.list", "relays", nil, []string{"id"}, "task"}}
	tenants  = []source{{"tenant.list", "tenants", nil, []string{"name"}, "state"}}
	waiting  = []source{{"question.list", "questions", nil, []string{"id"}, "session"}}
)

// arguments says what an argument names, by the command (or its group) and the word that stands for it in the usage.
var arguments = map[string][]source{
	"session SESSION": sessions, "session NAME": sessions, "session ID": sessions, "session send NAME": live, "session attach NAME": live,
	"session interrupt NAME":  live,
	"session answer QUESTION": waiting, "grant unconfined SESSION": sessions,
	"approvals ID": asks, "approve ID": asks, "deny ID": asks, "actor disable NAME": actors, "token new ACTOR": actors,
	"token revoke ID": {{"token.list", "tokens", nil, []string{"id"}, "actor"}},
	"repo NAME":       repos, "board ID": tasks, "board ON": tasks, "board PEER": peers, "space remove NAME": peers, "space PEER": peers,
	"secret NAME": secrets, "connector NAME": programs, "provider PROVIDER": models, "provider remove ID": models, "resource KEY": keys,
	"memory MEMORY":   memories,
	"source SOURCE":   folders,
	"knowledge SPACE": spacesOf, "knowledge ITEM": entries, "knowledge NAME": slices.Concat(spacesOf, entries),
	"job JOB":          jobs,
	"queue JOB":        jobs,
	"team TEAM":        teams,
	"artifact NAME":    made,
	"automation NAME":  works,
	"automation RUN":   runs,
	"forge FORGE":      {{"forge.list", "forges", nil, []string{"name"}, "repo"}},
	"pack PACK":        {{"pack.list", "packs", nil, []string{"name"}, "title"}},
	"relay RELAY":      relays,
	"context RUN":      contexts,
	"tenant NAME":      tenants,
	"grant revoke ID":  {{"grant.list", "grants", nil, []string{"id"}, "resource"}},
	"panel signout ID": {{"signin.list", "browsers", nil, []string{"id"}, "agent"}},
}

// fresh are commands whose argument is the name of something that is not there yet.
var fresh = map[string]bool{"session open": true, "session new": true, "actor add": true, "connector add": true, "provider add": true,
	"repo add": true, "tenant create": true, "knowledge create": true, "forge add": true}

// options says what a flag names; one with two words is of one group of commands.
var options = map[string][]source{"session": sessions, "as": actors, "actor": actors, "space": spaces, "to": peers, "depends-on": tasks,
	"task": tasks, "tenant": tenants, "knowledge": spacesOf, "source repo": repos, "source connector": programs, "source in": folders}

// offerNames lets the shell complete names and ids of what the running server has. It starts none, and an old list is no harm: what
// is typed is looked up by the command itself.
func offerNames(k *kit.Kit, cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		offerNames(k, c)
	}
	path := strings.TrimPrefix(cmd.CommandPath(), "tandem ")
	for key, from := range options {
		group, flag, of := strings.Cut(key, " ")
		if !of {
			group, flag = "", key
		}
		if !strings.HasPrefix(path, group) {
			continue
		}
		if f := cmd.LocalNonPersistentFlags().Lookup(flag); f != nil {
			cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string,
				word string) ([]cobra.Completion, cobra.ShellCompDirective) { //nolint:errcheck // it is there, and has none
				return offered(cmd.Context(), k, from, word), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
	holds := placeholders(cmd.Use)
	if len(holds) == 0 || cmd.ValidArgsFunction != nil || fresh[path] {
		return
	}
	takeShort(k, cmd, path, holds)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		from, known := named(path, holds, len(args))
		if !known {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if from == nil {
			return nil, cobra.ShellCompDirectiveDefault // it may be a file
		}
		return offered(cmd.Context(), k, from, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// named is where the names of a command's nth argument come from; known is false where the usage has no such argument.
func named(path string, holds []placeholder, n int) (from []source, known bool) {
	if last := len(holds) - 1; n > last && holds[last].many {
		n = last
	}
	if n >= len(holds) {
		return nil, false
	}
	if from = arguments[path+" "+holds[n].word]; from == nil {
		group, _, _ := strings.Cut(path, " ")
		from = arguments[group+" "+holds[n].word]
	}
	return from, true
}

type placeholder struct {
	word string
	many bool
}

// placeholders are the words of a usage that stand for arguments: [ID…] is ID, several times.
func placeholders(use string) (all []placeholder) {
	_, rest, _ := strings.Cut(use, " ")
	for _, w := range strings.Fields(rest) {
		word := strings.Trim(w, "[]…")
		if word == "" && len(all) > 0 { // ON …
			all[len(all)-1].many = true
		}
		if word == "" || word != strings.ToUpper(word) || strings.ContainsAny(word, "-|:") {
			continue
		}
		all = append(all, placeholder{word, strings.Contains(w, "…")})
	}
	return all
}

// offered are the names that begin with what was typed, each with what it is.
func offered(ctx context.Context, k *kit.Kit, from []source, word string) (out []cobra.Completion) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, err := k.Running(ctx)
	if k.SessionSocket() != "" {
		c, err = k.Client(ctx)
	}
	if err != nil {
		return nil
	}
	for _, s := range from {
		var answer map[string]any
		if err := c.Call(ctx, s.op, s.in, &answer); err != nil {
			continue // who may not see them is offered none
		}
		for name, about := range s.listed(answer) {
			if strings.HasPrefix(name, word) && !strings.ContainsAny(name, "\n\t") {
				out = append(out, cobra.CompletionWithDesc(kit.VisibleLine(name), kit.VisibleLine(strings.ReplaceAll(about, "\t", " "))))
			}
		}
	}
	return out
}

// listed are the names in a list operation's answer, in its order, each with what it is.
func (s source) listed(answer map[string]any) iter.Seq2[string, string] {
	return func(yield func(name, about string) bool) {
		items, _ := answer[s.items].([]any)
		for _, item := range items {
			thing, _ := item.(map[string]any)
			about, _ := thing[s.about].(string)
			for _, field := range s.names {
				if thing[field] != nil && !yield(fmt.Sprint(thing[field]), about) {
					return
				}
			}
		}
	}
}
